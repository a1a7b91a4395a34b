"""Pages over several apps, such as the overview."""
