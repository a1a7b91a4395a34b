"""Service centers and areas in the API (contract 6.17)."""
