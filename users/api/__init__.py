"""The API of users."""
