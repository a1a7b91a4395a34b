"""Calls to servers outside Assay: single sign-on providers."""
