"""Requests: their client, id and links, and the base of pages."""
