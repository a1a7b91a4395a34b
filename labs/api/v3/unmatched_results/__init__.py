"""Unmatched results in the API: list, read, accept, resolve (contract 10)."""
