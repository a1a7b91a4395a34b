"""Orders and their documents in the API (contract 6.5 to 6.16)."""
