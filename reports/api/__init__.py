"""The API of lab report parsing."""
