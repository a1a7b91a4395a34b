"""The demo data of users, in the order in which it is loaded."""

from __future__ import annotations

from users.demo.phones import load_demo_phones
from users.demo.sandbox import load_demo_sources

LOADERS = (load_demo_sources, load_demo_phones)
