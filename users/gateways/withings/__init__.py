"""Gateway to Withings' public API (developer.withings.com), without a contract."""
