"""The dashboard pages of users."""
