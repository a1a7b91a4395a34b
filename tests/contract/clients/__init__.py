"""The published clients of others, each method called against a running server."""
