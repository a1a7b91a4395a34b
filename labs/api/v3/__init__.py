"""The API below /v3/."""
