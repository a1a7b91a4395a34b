"""Reads of lab testing that cross tables, by noun."""
