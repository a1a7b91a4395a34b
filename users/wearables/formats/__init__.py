"""Readers of files of health data: exports of vendors, activities, CSV and NDJSON.

Each yields rows of the contract's resources; none knows a table. `sniffing` tells the
formats apart, `staging` checks all of a file and lays it out in parts to be stored.
"""
