"""Gateway to Oura's public API, version 2 (cloud.ouraring.com/v2/docs)."""
