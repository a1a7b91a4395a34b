"""The dashboard pages of lab testing."""
