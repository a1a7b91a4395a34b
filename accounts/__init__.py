"""Teams, members, API keys, audit, and the outbox; the lowest app."""
