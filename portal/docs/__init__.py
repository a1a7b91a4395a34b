"""The documentation under docs/: its pages at /docs/, their search and references."""
