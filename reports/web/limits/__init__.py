"""Pages of critical limits."""
