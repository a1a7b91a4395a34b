"""What an attacker tries, as tests; docs/explanation/security.md names the others."""
