"""Pages of webhooks: endpoints, the log, replays."""
