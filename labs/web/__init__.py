"""The dashboard pages of lab testing; none yet."""
