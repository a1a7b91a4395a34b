"""What readers and writers of a packed day that is corrupt are answered."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import Damaged

if TYPE_CHECKING:
    from datetime import date

logger = logging.getLogger(__name__)


class DayDamaged(Damaged):
    """A packed day is corrupt, so that nothing is said of any sample of it.

    On the wire 503 `day_damaged` with the `day` (UTC). Source: Ours: an answer without
    that day would pass for one in which nothing was measured.
    """

    def __init__(self, *, series: int, feed: int, day: date) -> None:
        super().__init__(
            "day_damaged",
            _(
                "Stored data of %(day)s (UTC) is damaged and can't be read. Other days"
                " can. The operator can restore it from a backup."
            )
            % {"day": day.isoformat()},
        )
        self.day = day
        logger.error(
            "a packed day is corrupt: series %d, feed %d, %s; `manage.py pack_samples"
            " --check` lists all",
            series,
            feed,
            day,
        )

    @property
    def details(self) -> dict[str, object]:
        """The day."""
        return {"day": self.day.isoformat()}
