"""Sources of users: connect, pull, pause, watch and disconnect them."""
