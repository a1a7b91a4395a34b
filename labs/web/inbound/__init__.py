"""Pages of lab reports that match no order."""
