"""Teams: create, change, delete them; their retention."""
