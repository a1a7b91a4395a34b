"""Pages of a user's sources."""
