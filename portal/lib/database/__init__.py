"""PostgreSQL: cursors, schema operations, time limits, outages."""
