"""The pagination styles of contract 1.4, as query inputs.

The cursor style comes with the endpoints that use it.
"""

from __future__ import annotations

from portal.lib.api.fields import Inputs, QueryInt

OFFSET_LIMIT_MAX = 500  # Spec 8
# PostgreSQL's bigint; past it there is no row to skip to.
OFFSET_MAX = 2**63 - 1 - OFFSET_LIMIT_MAX


class OffsetInputs(Inputs):
    """`offset` (default 0) and `limit` (default 100, 1 to 500); over it: 422 (D20)."""

    offset = QueryInt(default=0, min_value=0, max_value=OFFSET_MAX)
    limit = QueryInt(default=100, min_value=1, max_value=OFFSET_LIMIT_MAX)


PAGE_SIZE_MAX = 100  # Contract 1.4
PAGE_MAX = 2**31


class PageInputs(Inputs):
    """`page` (default 1) and `size` (default 50, 1 to 100); over it: 422 (D20)."""

    page = QueryInt(default=1, min_value=1, max_value=PAGE_MAX)
    size = QueryInt(default=50, min_value=1, max_value=PAGE_SIZE_MAX)
