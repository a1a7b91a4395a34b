"""Reads uploaded files: keeps them, parses them in a child process."""
