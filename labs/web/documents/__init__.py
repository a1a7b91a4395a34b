"""Documents of orders: downloads, labels, and the public requisition link."""
