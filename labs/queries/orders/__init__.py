"""Reads of orders."""
