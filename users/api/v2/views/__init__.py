"""One small class for each endpoint, by noun."""
