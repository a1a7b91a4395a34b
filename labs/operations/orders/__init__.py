"""Orders: check, place, send to the lab, change and cancel them."""
