"""History of orders that a team brings along from another platform."""
