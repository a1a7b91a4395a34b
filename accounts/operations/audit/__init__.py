"""The audit: write entries, seal and verify their chain."""
