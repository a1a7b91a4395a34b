"""Demo data of lab testing. No operation may import it."""
