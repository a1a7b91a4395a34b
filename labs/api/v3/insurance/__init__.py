"""Insurance in the API (contract 2.6, 6.21)."""
