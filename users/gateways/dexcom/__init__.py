"""Gateway to Dexcom's public API, version 3 (developer.dexcom.com)."""
