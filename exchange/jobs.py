"""Background jobs of exchange; each calls one operation."""
