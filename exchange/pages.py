"""What the exchange app contributes to pages that show several apps."""

from __future__ import annotations

from accounts.declarations.pages import PageContributions
from exchange.web.columns import LISTS

PAGES = PageContributions(lists=LISTS)
