"""Lab accounts, the catalogue and orders."""
