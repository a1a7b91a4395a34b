"""Searches over the resources of a tenant."""
