"""The lab report parser, a library without Django.

`parse_report` turns a file into values of report.py. `detect_file_type_without_opening`
and `check_file_can_be_opened` check an upload. Each stage has its own module.
"""

from __future__ import annotations

from .documents import NoPictureReader
from .intake import (
    FileKind,
    OpenedFile,
    RefusalCode,
    RefusedFile,
    check_file_can_be_opened,
    detect_file_type_without_opening,
)
from .parsing import MAX_PAGES, parse_report, parse_report_pages
from .report import ParsedReport, ParsedResult, UnreadableReport

__all__ = [
    "MAX_PAGES",
    "FileKind",
    "NoPictureReader",
    "OpenedFile",
    "ParsedReport",
    "ParsedResult",
    "RefusalCode",
    "RefusedFile",
    "UnreadableReport",
    "check_file_can_be_opened",
    "detect_file_type_without_opening",
    "parse_report",
    "parse_report_pages",
]
