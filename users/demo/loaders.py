"""The demo data of users, in the order in which it is loaded."""

from __future__ import annotations

from users.demo.sandbox import load_demo_sources

LOADERS = (load_demo_sources,)
