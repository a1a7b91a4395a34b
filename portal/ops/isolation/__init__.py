"""The isolation report: tenants are kept apart, and here is when it was tried."""
