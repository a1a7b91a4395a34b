"""The language a user reads: chosen by them, or their team's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.errors import Invalid
from portal.lib.languages import is_offered_language
from users.queries import lock_user

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.models import User


@transaction.atomic
def set_user_language(*, user: User, actor: Actor, language: str) -> User:
    """Set the language of a live user's pages, emails and texts.

    Raises: not_found; 422 language_unknown. Source: Ours: contract 2 names no language.
    """
    if not is_offered_language(language):
        raise Invalid("language_unknown", _("Choose from the list."), "language")
    kept = lock_user(user)
    if kept.language != language:
        before, kept.language = kept.language, language
        kept.save(update_fields=["language"])
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="set_language",
            subject="user",
            subject_id=user.uuid,
            user_uuid=user.uuid,
            changes={"language": [before, language]},
        )
    return kept


def find_mail_language(user: User) -> str:
    """Return the language of what a user is sent, with their tenant loaded."""
    if is_offered_language(user.language):
        return user.language
    return find_patient_language(user.tenant)


def find_patient_language(tenant: Tenant) -> str:
    """Return the language of what patients of a team read if they chose none."""
    language: str = tenant.patient_language
    return language if is_offered_language(language) else "en"
