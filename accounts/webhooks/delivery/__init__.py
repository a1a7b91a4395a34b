"""Delivery of webhooks: lease, send, record the outcome, schedule retries."""
