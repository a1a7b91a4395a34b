"""Pages of lab tests, markers and panels."""
