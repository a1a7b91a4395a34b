"""The event feed (contract 10)."""
