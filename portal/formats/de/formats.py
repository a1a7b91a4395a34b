"""The formats of every language."""

from portal.formats import *  # noqa: F403
