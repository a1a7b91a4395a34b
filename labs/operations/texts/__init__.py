"""Texts to patients: the team's provider, and what it reports."""
