"""Resource types: for each a module with its rows, its mapping and its search."""
