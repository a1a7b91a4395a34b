"""Pages of shared links: for members, for users in their portal, and for readers."""
