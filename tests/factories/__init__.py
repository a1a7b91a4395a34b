"""The least valid object of each kind; a factory never calls a gateway."""
