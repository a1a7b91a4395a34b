"""Pages of reports: the list, upload, one report, its history."""
