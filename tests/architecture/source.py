"""Our own source, parsed: what the architecture tests read."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKAGES = ("portal", "accounts", "users", "labs", "reports", "exchange")


def modules(
    *, word: str = "", packages: Sequence[str] = PACKAGES
) -> Iterator[tuple[str, ast.Module]]:
    """Each module of ours in whose text a word stands, but migrations.

    As path from the root and syntax tree; to parse them all takes seconds.
    """
    root = Path(settings.BASE_DIR)
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            if "migrations" not in path.parts and word in (text := path.read_text()):
                yield str(path.relative_to(root)), ast.parse(text)
