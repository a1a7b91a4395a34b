"""The review desk and its queue."""
