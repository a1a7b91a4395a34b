"""Pages that end a review, and that amend a signed report."""
