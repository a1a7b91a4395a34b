"""Pages of results and of critical ones."""
