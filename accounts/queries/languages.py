"""The languages in which members read their mails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from accounts.models import Member
from portal.lib.languages import is_member_language

if TYPE_CHECKING:
    from collections.abc import Iterable


def get_mail_language(member: Member) -> str:
    """Return the language of mails to a member: that of their profile, or English."""
    chosen = member.language
    return chosen if is_member_language(chosen) else settings.LANGUAGE_CODE


def group_addresses_by_language(addresses: Iterable[str]) -> dict[str, list[str]]:
    """Group addresses of a mail by the language that their owners read, in order.

    An address that is of no member is written to in English.
    """
    wanted = list(addresses)
    found = Member.objects.filter(email__in=wanted)
    languages = {member.email: get_mail_language(member) for member in found}
    groups: dict[str, list[str]] = {}
    for address in wanted:
        language = languages.get(address, settings.LANGUAGE_CODE)
        groups.setdefault(language, []).append(address)
    return groups
