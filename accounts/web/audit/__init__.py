"""The audit log and the access log of a user."""
