"""What apps on phones send, read into our own records."""
