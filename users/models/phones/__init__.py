"""Phones that send a user's data, and what they sent until it is stored."""
