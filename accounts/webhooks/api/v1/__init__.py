"""Endpoints over the management API (contract 8.7)."""
