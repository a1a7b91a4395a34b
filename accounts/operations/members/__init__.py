"""Members: invite, grant roles, change and remove them."""
