"""Pages of orders: the list, one order, its actions and documents."""
