"""Lab accounts in the management API (contract 9.1)."""
