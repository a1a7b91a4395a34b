"""Gateway to the Garmin Health and Activity APIs (Garmin Connect Developer Program)."""
