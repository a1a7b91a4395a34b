"""What each app declares for the others: pages, hooks, classes of data, demo data."""
