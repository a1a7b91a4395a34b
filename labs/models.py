"""Tables of lab accounts, the catalogue, orders, results and visits; none yet."""
