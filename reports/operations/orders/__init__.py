"""Reports that hold the results of a lab order."""
