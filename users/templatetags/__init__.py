"""Template tags of the users app."""
