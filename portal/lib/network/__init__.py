"""Calls to other servers, and which may be called."""
