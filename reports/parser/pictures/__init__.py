"""Reading pictures of pages: files, scans and photos become Page and Word values.

Imports large libraries: import it only once a picture has to be read.
"""

from __future__ import annotations

from .engine import EngineMissing
from .sheets import read_pictures, read_shown

__all__ = ["EngineMissing", "read_pictures", "read_shown"]
