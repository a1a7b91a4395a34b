"""Reads of users: one, pages, filters and counts."""
