"""End users, their sources and their wearable data."""
