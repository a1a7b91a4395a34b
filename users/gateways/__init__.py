"""Gateways to cloud sources, behind a Protocol."""
