"""Links by which people outside read a user's signed results."""
