"""Messages from labs: read files, match reports to orders, review the rest."""
