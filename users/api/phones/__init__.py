"""The addresses that apps on phones call."""
