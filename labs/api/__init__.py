"""The API of lab testing, below /v3; none yet."""
