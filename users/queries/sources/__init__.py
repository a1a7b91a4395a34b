"""Reads of users' sources and links."""
