"""Diagnosis of endpoints: what is the matter, and what to do about it."""
