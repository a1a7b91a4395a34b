"""The project: settings, addresses and the landing page; lib is its floor."""
