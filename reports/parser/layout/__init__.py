"""Pages as words, lines and cells with their places."""
