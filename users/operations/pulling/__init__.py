"""Pulls of cloud sources: run them, and refresh a user."""
