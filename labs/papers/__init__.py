"""PDF documents of lab testing, rendered from orders: always the same bytes.

Must not be here: a query, the clock, or whether a paper may be had (operations.papers).
"""
