"""Pages of a team's settings."""
