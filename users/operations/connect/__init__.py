"""Connect links, and connecting sources through them."""
