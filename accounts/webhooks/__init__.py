"""The outbox: what customers are told, and how it reaches them."""
