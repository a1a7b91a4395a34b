"""Lab accounts over the management API (contract 9.1)."""
