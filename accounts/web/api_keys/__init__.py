"""Pages of API keys and their call log."""
