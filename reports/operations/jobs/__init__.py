"""Parsing jobs: submit a report, parse it, read it again."""
