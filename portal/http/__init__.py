"""Requests and responses of the whole site: limits, headers, error pages."""
