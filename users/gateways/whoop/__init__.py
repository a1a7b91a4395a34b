"""Gateway to WHOOP's public API, version 2 (developer.whoop.com)."""
