"""Pages of appointments: booking, the list by day, the order's visit."""
