"""Moving a team in from another platform: import, and a report of what differs."""
