"""PDF documents of lab testing, rendered from orders: always the same bytes."""
