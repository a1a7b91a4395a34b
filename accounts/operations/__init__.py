"""The verbs of teams, members, keys and the audit."""
