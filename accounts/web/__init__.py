"""Pages of sign-in, members, keys, audit and settings."""
