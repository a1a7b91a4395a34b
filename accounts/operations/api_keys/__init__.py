"""API keys, management keys and tokens, their call log and limits."""
