"""Data of users: store batches of samples, summaries and streams."""
