"""The verbs of lab report parsing."""
