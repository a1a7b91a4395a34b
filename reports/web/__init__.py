"""The dashboard pages of lab reports."""
