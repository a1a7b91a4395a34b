"""The lab report parser, a library without Django.

`parse_report` turns a file into values of report.py; `recognize_file` and
`inspect_file` are the looks at an upload. What a stage does stands in its own module.
"""

from __future__ import annotations

from .documents import NoPictureReader
from .intake import (
    FileKind,
    OpenedFile,
    RefusalCode,
    RefusedFile,
    inspect_file,
    recognize_file,
)
from .parsing import MAX_PAGES, parse_report, read_report
from .report import ParsedReport, ParsedResult, UnreadableReport
from .widening import widen_matches

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
    "inspect_file",
    "parse_report",
    "read_report",
    "recognize_file",
    "widen_matches",
]
