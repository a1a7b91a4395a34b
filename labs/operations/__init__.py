"""The verbs of lab testing."""
