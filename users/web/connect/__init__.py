"""The connect page, where a user's sources are connected."""
