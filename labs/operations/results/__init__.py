"""Results: store deliveries as versions, and raise critical ones."""
