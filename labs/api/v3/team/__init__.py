"""The key's team in the API: accounts, metrics, portal links (contract 9.1, 2.2)."""
