"""The status of orders: its only writer, and what follows from a change."""
