"""Gateway to Polar AccessLink (polar.com/accesslink-api), version 3."""
