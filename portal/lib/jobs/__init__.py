"""Background jobs, and their worker's connection."""
