"""Imports of files of health data."""
