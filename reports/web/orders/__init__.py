"""Pages of reports that hold the results of lab orders."""
