"""Lab accounts, the catalogue, orders, results and visits; not begun."""
