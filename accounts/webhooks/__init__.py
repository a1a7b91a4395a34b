"""Webhooks: events, endpoints and the deliveries between them."""
