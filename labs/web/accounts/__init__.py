"""Pages of lab accounts."""
