"""Pages of physicians: profiles and the queue of orders to approve."""
