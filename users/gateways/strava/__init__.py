"""Gateway to Strava's public API, version 3 (developers.strava.com)."""
