"""Reviews: claim one, edit and confirm its rows, pass its gates."""
