"""Statuses, transitions and choices of lab testing, by noun."""
