"""Panels, order sets and reference data: create, import, approve."""
