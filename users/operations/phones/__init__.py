"""Phones: pair them, take their uploads, and store these."""
