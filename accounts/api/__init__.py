"""API authentication and, later, the management interface."""
