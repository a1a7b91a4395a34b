"""Tables of users' data."""
