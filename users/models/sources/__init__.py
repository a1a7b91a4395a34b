"""Tables of users' sources."""
