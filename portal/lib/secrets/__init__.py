"""Encryption, signatures and private files."""
