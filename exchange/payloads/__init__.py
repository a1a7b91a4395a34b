"""Shapes of what is handed out in files."""
