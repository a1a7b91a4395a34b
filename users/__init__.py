"""End users, their sources and, later, their wearable data."""
