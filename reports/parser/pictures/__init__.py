"""Reads images of pages (files, scans, photos) into words.

Imports large libraries, which may not be installed: import it only once a picture has
to be read.
"""

from __future__ import annotations

from .sheets import read_box_by_ocr, read_image_files, read_pdf_pages_by_ocr

__all__ = ["read_box_by_ocr", "read_image_files", "read_pdf_pages_by_ocr"]
