"""The overview: the parts of all apps, in the order that people need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from accounts.declarations.pages import list_page_contributions
from accounts.web.settings.go_live import build_go_live_card
from portal.ui.charts import draw_sparkline

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from accounts.declarations.pages import AttentionItem, OverviewCard, Tile
    from accounts.web.requests import TenantRequest

TILES = 4
# More than this is no list to work through from here: each item's own list has it all.
ATTENTION_ITEMS = 8
# How long the page waits before it asks again when nobody is in a hurry.
CALM_POLL_S = 60


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile and its drawing."""

    tile: Tile
    chart: SafeString


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole page; cards are rendered; `attention` is cut, its total is not."""

    tiles: list[TileView]
    attention: list[AttentionItem]
    attention_total: int
    cards: list[SafeString]
    aside: list[SafeString]
    poll_seconds: int


def build_team_overview(request: TenantRequest) -> Overview:
    """Collect from every app what the member's roles may see on the overview.

    Source: Ours (design guide): the most urgent first, within it the oldest.
    """
    parts = [
        build(request) for app in list_page_contributions() for build in app.overview
    ]
    tiles = sorted((t for p in parts for t in p.tiles), key=lambda tile: tile.rank)
    attention = sorted(
        (item for part in parts for item in part.attention),
        key=lambda item: (item.urgency, item.since),
    )
    cards = sorted((c for p in parts for c in p.cards), key=lambda card: card.rank)
    hurries = [part.poll_seconds for part in parts if part.poll_seconds is not None]
    return Overview(
        tiles=[
            TileView(tile, draw_sparkline(tile.trend, says=tile.trend_says))
            for tile in tiles[:TILES]
        ],
        attention=attention[:ATTENTION_ITEMS],
        attention_total=len(attention),
        cards=[_render(request, card) for card in cards if not card.is_aside],
        aside=[_render(request, card) for card in cards if card.is_aside],
        poll_seconds=min(hurries, default=CALM_POLL_S),
    )


def render_go_live_card(request: TenantRequest) -> SafeString | None:
    """Render what leads the first steps of a production environment, if anything."""
    card = build_go_live_card(request)
    return _render(request, card) if card else None


def _render(request: TenantRequest, card: OverviewCard) -> SafeString:
    return render_to_string(card.template, dict(card.context), request)
