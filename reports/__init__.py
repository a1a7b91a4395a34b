"""Lab report parsing: jobs, what was read, and the parser."""
