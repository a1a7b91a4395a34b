"""Signing: end a review, publish its values, amend a signed report."""
