"""The tags that every template may load."""
