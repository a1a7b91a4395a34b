"""Documents of orders and appointments: render them and issue their links."""
