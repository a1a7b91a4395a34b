"""Everything `manage.py demo` does: prepare, serve, watch, stop.

`run` is the order of events, `processes` and `warden` keep the children, `access` makes
the sign-in and keys, `notes` keeps them in var. Must not be here: the demo's people and
data (portal.demo.data).
"""
