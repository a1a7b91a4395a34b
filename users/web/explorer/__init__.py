"""The explorer of a user's data."""
