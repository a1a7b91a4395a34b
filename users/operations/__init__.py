"""The verbs of users, their sources and their details."""
