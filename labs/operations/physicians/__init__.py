"""Physicians of a team and their decisions on orders."""
