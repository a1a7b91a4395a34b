"""Files of the lake: their columns, names, rows and how they are written."""
