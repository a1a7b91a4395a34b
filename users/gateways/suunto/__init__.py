"""Gateway to Suunto's Cloud API (apizone.suunto.com)."""
