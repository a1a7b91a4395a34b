"""Pages of members, their roles, invitations and profiles."""
