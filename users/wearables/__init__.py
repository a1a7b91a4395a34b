"""Sources, resources, formats and aggregates of wearable data."""
