"""Pages of documents without an order."""
