"""Reads images of pages (files, scans, photos) into words.

Imports large libraries, which may not be installed: import it only once a picture has
to be read.
"""

from __future__ import annotations

from .sheets import read_part, read_pictures, read_shown

__all__ = ["read_part", "read_pictures", "read_shown"]
