"""Other platforms that a team moves in from."""
