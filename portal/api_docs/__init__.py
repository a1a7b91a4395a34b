"""Pages for developers below /api/docs/: quick start, error codes, changes.

Open to all, like the document itself.
"""
