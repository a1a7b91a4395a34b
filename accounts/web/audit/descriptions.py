"""Describe audit entries: the action, the object, and the changed values.

Made of the operation's name, so that a new operation needs no line here. Must not be
here: queries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from accounts.models import AuditEntry

# Verbs whose past is not made by rule; `take_over` begins with one.
_PAST = {
    "begin": "began",
    "cancel": "cancelled",
    "choose": "chose",
    "drop": "dropped",
    "give": "gave",
    "keep": "kept",
    "leave": "left",
    "make": "made",
    "map": "mapped",
    "read": "read",
    "reread": "reread",
    "resend": "resent",
    "send": "sent",
    "set": "set",
    "show": "showed",
    "split": "split",
    "stop": "stopped",
    "submit": "submitted",
    "permit": "permitted",
    "take": "took",
    "undo": "undid",
    "withdraw": "withdrew",
}
_SHORT = {
    "api": "API",
    "csv": "CSV",
    "icd": "ICD",
    "id": "ID",
    "loinc": "LOINC",
    "mfa": "second factor",
    "oidc": "OpenID Connect",
    "organisation": "organization",
    "psc": "PSC",
    "sms": "SMS",
    "sso": "single sign-on",
    "url": "URL",
}
# Predicates of operations whose names do not say it plainly by rule.
_PREDICATES = {
    "ask_for_demo_data": "requested demo data",
    "ask_to_remove_demo_data": "requested removal of demo data",
    "change_notices": "changed notification settings",
    "configure_single_sign_on": "configured single sign-on",
    "drop_delivery": "cancelled delivery",
    "end_view_as_role": "stopped viewing as role",
    "join_by_single_sign_on": "joined with single sign-on",
    "link_single_sign_on": "linked single sign-on",
    "mail_link": "emailed link",
    "stop_reconnect_mails": "stopped emails about sources",
    "put_back_report": "returned report to the queue",
    "remove_single_sign_on": "removed single sign-on",
    "undo_delete_team": "restored team",
    "undo_delete_user": "restored user",
    "undo_row": "undid row edit",
}
# What an id is of, where the id is that of a user or of nothing.
_LIST = re.compile(r"^[a-z_]+=")
ACTOR_WORDS = {
    "member": gettext_lazy("Member"),
    "api_key": gettext_lazy("API key"),
    "management": gettext_lazy("Management key"),
    "system": gettext_lazy("Assay"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One changed field; `is_named` means its values are not recorded."""

    name: str
    old: str
    new: str
    is_named: bool = False


def spell_out_code_name(name: str) -> str:
    """Return a code name in words: `api_key` is "API key"."""
    return " ".join(_SHORT.get(word, word) for word in re.split(r"[_.\s]+", name))


def describe_audited_action(verb: str, subject: str) -> str:
    """Return the action as a predicate: "changed settings"."""
    if verb in _PREDICATES:
        return _PREDICATES[verb]
    first, _sep, rest = verb.partition("_")
    past = _PAST.get(first) or _regular_past(first)
    if verb == "read":
        return f"read {spell_out_code_name(subject)}"
    of_what = (
        f" of {spell_out_code_name(subject)}"
        if first == "record" and subject != rest
        else ""
    )
    return f"{past} {spell_out_code_name(rest)}{of_what}".strip()


def _regular_past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def describe_audit_entry(entry: AuditEntry) -> str:
    """Return an entry as one sentence, without changed values."""
    what = describe_audited_action(entry.verb, entry.subject)
    object_id = describe_audited_object(entry)
    whose = f" of user {entry.user_uuid}" if entry.user_uuid else ""
    return f"{entry.actor_label} {what}{f' {object_id}' if object_id else ''}{whose}"


def describe_audited_object(entry: AuditEntry) -> str:
    """Return the object's ID, unless it is the actor's or the user's own."""
    own_ids = {"", entry.actor_key, str(entry.user_uuid or "")}
    if entry.subject_id in own_ids or _LIST.match(entry.subject_id):
        return ""
    return entry.subject_id


def describe_audited_list_part(subject_id: str) -> str:
    """Return the part of a list that was read, in words."""
    return subject_id.replace("=", " ") if _LIST.match(subject_id) else ""


def list_audit_entry_changes(changes: Mapping[str, object]) -> list[Change]:
    """Return an entry's changes; nested objects part by part."""
    lines: list[Change] = []
    for name, value in sorted(changes.items()):
        match value:
            case [old, new]:
                lines += _compare_values(name, old, new)
            case list() if name == "fields":
                lines += [
                    Change(spell_out_code_name(str(each)), "", "", True)
                    for each in value
                ]
            case _:
                lines.append(
                    Change(spell_out_code_name(name), "", _describe_value(value))
                )
    return lines


def _compare_values(name: str, old: object, new: object) -> Iterable[Change]:
    if isinstance(old, dict) or isinstance(new, dict):
        before = old if isinstance(old, dict) else {}
        after = new if isinstance(new, dict) else {}
        for part in sorted({*before, *after}):
            if before.get(part) != after.get(part):
                yield Change(
                    spell_out_code_name(part),
                    _describe_value(before.get(part)),
                    _describe_value(after.get(part)),
                )
    else:
        yield Change(
            spell_out_code_name(name), _describe_value(old), _describe_value(new)
        )


def _describe_value(value: object) -> str:
    match value:
        case True:
            return _("on")
        case False:
            return _("off")
        case None | "" | []:
            return _("not set")
        case list():
            return ", ".join(_describe_value(each) for each in value)
        case dict():
            return ", ".join(
                f"{spell_out_code_name(k)} {_describe_value(v)}"
                for k, v in value.items()
            )
        case _:
            return str(value)
