"""A user's page: what happened over a span of days, and what changed in it."""
