"""Lab testing: lab accounts, the catalog, orders and results."""
