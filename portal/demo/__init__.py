"""Everything `manage.py demo` does: prepare, serve, watch, stop.

`run` is the order of events, `processes` and `warden` keep the children, `access` makes
the sign-in and keys, `notes` keeps them in var. `data` is the demo's people and data,
which `sandbox` also loads into a customer's sandbox, noted in `models`.
"""
