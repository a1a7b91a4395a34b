"""Appointments in the API (contract 6.18)."""
