"""Demo data of users. No operation may import it."""
