"""Users: create, change, delete, export and import them."""
