"""Documents that came without an order: receive, read, match, reject."""
