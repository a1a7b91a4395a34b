"""What an attacker tries, as tests; docs/security.md names the rest of them."""
