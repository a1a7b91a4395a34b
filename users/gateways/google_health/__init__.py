"""Gateway to the Google Health API, successor of the Fitbit Web API."""
