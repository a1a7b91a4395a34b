"""The papers a lab works with, as PDFs: drawn from an order, the same bytes each time.

Must not be here: a query, the clock, or whether a paper may be had (operations.papers).
"""
