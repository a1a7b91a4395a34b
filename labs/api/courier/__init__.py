"""Signed messages of couriers."""
