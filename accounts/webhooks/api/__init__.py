"""What webhooks serve over the API: endpoints by management key, the feed."""
