"""Statuses, moves and closed sets of the labs app, by noun."""
