"""Shared links as rows; tests of what they hold make real ones."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from django.utils import timezone

from exchange.models import SharedLink

if TYPE_CHECKING:
    from users.models import User


def make_shared_link(*, user: User) -> SharedLink:
    """A link without files that works for a day."""
    link = SharedLink(
        tenant=user.tenant,
        user=user,
        token_hash=uuid4().hex,
        label="Lab results",
        made_by="alice@assay.example",
        expires_at=timezone.now() + timedelta(days=1),
    )
    link.save(force_insert=True)
    return link
