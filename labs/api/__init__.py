"""The API of lab testing."""
