"""Events of unmatched results, in the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from accounts.webhooks.operations import UserRef, emit_event
from labs.payloads.match_reviews import build_match_review

if TYPE_CHECKING:
    from labs.models import InboundReport

# Ours: an envelope always names a user (contract 8.1), and here nobody is known yet.
NOBODY = UserRef(UUID(int=0), "")


def emit_match_review_event(report: InboundReport, what: str) -> None:
    """Emit that a result waits for its order, or that a member decided.

    what: `created` or `updated`. The user is that of the matched order, else the nil
    UUID. Source: Contract 8.2: no patient details.
    """
    emit_event(
        tenant=report.tenant,
        user=report.order.user.ref if report.order else NOBODY,
        event_type=f"labtest.match_review.{what}",
        data=build_match_review(report),
    )
