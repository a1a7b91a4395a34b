"""The rows of a report: their parts, names and evidence."""
