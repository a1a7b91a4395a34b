"""Reads of users' data."""
