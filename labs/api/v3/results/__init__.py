"""Results in the API (contract 6.15)."""
