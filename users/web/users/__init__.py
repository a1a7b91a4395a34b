"""Pages of users: the list, one user, import, export and deletion."""
