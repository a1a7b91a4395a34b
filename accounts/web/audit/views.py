"""Pages of the audit: the log, its export, and the access log of one user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.queries.audit import (
    MOST_COUNTED,
    Kind,
    count_audited_list_reads,
    count_hidden_audit_entries,
    find_audited_members,
    has_audit_entries_of_user,
    iterate_audit_entries_in_chunks,
    list_accesses_to_user_data,
    list_latest_audit_choices,
    read_audit_page,
)
from accounts.states import Area, Role
from accounts.web.audit.descriptions import (
    ACTOR_WORDS,
    Change,
    describe_audited_action,
    describe_audited_list_part,
    describe_audited_object,
    list_audit_entry_changes,
    spell_out_code_name,
)
from accounts.web.audit.export import write_csv, write_ndjson
from accounts.web.audit.filters import (
    PERIOD_WORDS,
    PERIODS,
    USUAL_PERIOD,
    AuditQuery,
    list_user_books,
)
from accounts.web.audit.groups import group_audit_entries
from accounts.web.columns import read_list_columns
from accounts.web.list_columns import ACCESSES
from accounts.web.rights import require_right
from portal.lib.errors import NotFound
from portal.lib.languages import write_within_sentence
from portal.lib.tenancy import iterate_as_tenant
from portal.lib.web.csv_files import build_csv_download, format_csv_timestamp
from portal.lib.web.views import is_page_fragment_requested, render_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from django.http import HttpResponse

    from accounts.models import AuditEntry, Tenant
    from accounts.queries.audit import AuditedMember
    from accounts.web.audit.groups import AuditGroup
    from accounts.web.requests import TenantRequest


PAGE_SIZE = 200
USUAL_LOOKS = "year"


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry as the page shows it; `user_name` is empty for erased users."""

    entry: AuditEntry
    deed: str
    thing: str
    part: str
    user_name: str
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class AuditGroupRow:
    """A group as the page shows it, with its entries.

    `name` is the member's, or the label of a key or job. `users` are IDs and names.
    `day` is empty where the row before has the same.
    """

    group: AuditGroup
    name: str
    member: AuditedMember | None
    roles: list[str]
    who: str
    users: list[tuple[UUID, str]]
    rows: list[AuditRow]
    day: date | None


@require_GET
@require_right(Area.AUDIT)
def show_audit_log(request: TenantRequest) -> HttpResponse:
    audit_query = AuditQuery.read(request.GET)
    filters = audit_query.filters(request.tenant)
    before = _read_cursor(request.GET.get("before", ""))
    page = read_audit_page(
        tenant=request.tenant, filters=filters, before=before, limit=PAGE_SIZE
    )
    hidden = (
        count_hidden_audit_entries(
            tenant=request.tenant, filters=filters, page=page, before=before
        )
        if filters.without_system
        else 0
    )
    listed: dict[str, Any] = {
        "groups": _build_group_rows(
            request.tenant,
            page.entries,
            continued=timezone.localdate(before[0]) if before else None,
        ),
        "hidden": hidden,
        "most_counted": MOST_COUNTED,
        "after": _write_cursor(page.after),
        "asked": audit_query,
    }
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="audit",
        subject_id=f"entries={len(page.entries)}",
        user_uuid=filters.user,
    )
    if is_page_fragment_requested(request) and "before" in request.GET:
        return render_page(request, "accounts/_audit_older.html", **listed)
    names = _find_user_names(request.tenant, [filters.user] if filters.user else [])
    choices = list_latest_audit_choices(tenant=request.tenant)
    known = find_audited_members(
        tenant=request.tenant, keys=[key for _, key, _ in choices.actors]
    )
    actors = [
        (
            key,
            _("%(name)s, %(email)s") % {"name": known[key].name, "email": label}
            if key in known and known[key].name
            else f"{label}, {write_within_sentence(ACTOR_WORDS.get(kind, kind))}",
        )
        for kind, key, label in choices.actors
    ]
    return render_page(
        request,
        "accounts/audit.html",
        fragment="accounts/_audit.html",
        kinds=Kind.offered(),
        periods=list(PERIOD_WORDS.items()),
        actors=actors,
        actor_words=dict(actors).get(audit_query.actor, audit_query.actor),
        subjects=[(each, spell_out_code_name(each)) for each in choices.subjects],
        subject_words=spell_out_code_name(audit_query.subject),
        usual=PERIOD_WORDS[USUAL_PERIOD],
        user=filters.user,
        user_name=names.get(filters.user, "") if filters.user else "",
        section="audit",
        **listed,
    )


@require_GET
@require_right(Area.AUDIT)
def export_audit_log(request: TenantRequest) -> HttpResponse:
    """Stream all matching entries as a file."""
    form = "ndjson" if request.GET.get("format") == "ndjson" else "csv"
    filters = replace(
        AuditQuery.read(request.GET).filters(request.tenant), without_system=False
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="audit_file",
        subject_id=form,
        user_uuid=filters.user,
    )
    write = write_ndjson if form == "ndjson" else write_csv
    kind = "application/x-ndjson" if form == "ndjson" else "text/csv; charset=utf-8"
    chunks = iterate_as_tenant(
        request.tenant,
        iterate_audit_entries_in_chunks(tenant=request.tenant, filters=filters),
    )
    response = StreamingHttpResponse(write(chunks), content_type=kind)
    response["Content-Disposition"] = (
        f'attachment; filename="audit-{timezone.localdate().isoformat()}.{form}"'
    )
    return response  # type: ignore[return-value]  # a response all the same


@require_GET
@require_right(Area.AUDIT)
def show_user_access_log(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show who read or changed one user's data, for print and export."""
    try:
        user_uuid = UUID(user_id)
    except ValueError:
        raise NotFound("not_found", _("User not found.")) from None
    tenant = request.tenant
    if not has_audit_entries_of_user(tenant=tenant, user_uuid=user_uuid):
        raise NotFound("not_found", _("User not found."))
    period = request.GET.get("period", "")
    period = period if period in PERIODS else USUAL_LOOKS
    span = PERIODS[period]
    since = timezone.now() - span if span else None
    zone: Any = timezone.get_current_timezone()
    looks = list_accesses_to_user_data(
        tenant=tenant, user_uuid=user_uuid, since=since, zone=zone
    )
    record_read(
        tenant=tenant,
        actor=request.actor,
        subject="audit",
        subject_id=user_uuid,
        user_uuid=user_uuid,
    )
    lines = [
        (
            look,
            ACTOR_WORDS.get(look.actor_kind, look.actor_kind),
            describe_audited_action(look.verb, look.subject),
        )
        for look in looks
    ]
    if request.GET.get("format") == "csv":
        return build_csv_download(
            name="access-log",
            columns=(
                *("day", "actor_kind", "actor", "action", "count"),
                *("first_at", "last_at"),
            ),
            rows=(
                (
                    look.day.isoformat(),
                    kind,
                    look.actor_label,
                    what,
                    str(look.times),
                    format_csv_timestamp(look.first_at),
                    format_csv_timestamp(look.last_at),
                )
                for look, kind, what in lines
            ),
        )
    columns = read_list_columns(request, ACCESSES)
    return render_page(
        request,
        "accounts/access_log.html",
        user_uuid=user_uuid,
        user_name=_find_user_names(tenant, [user_uuid]).get(user_uuid, ""),
        columns=columns,
        lines=columns.sort_rows(lines),
        readers=len({(look.actor_kind, look.actor_key) for look in looks}),
        reads=sum(look.times for look in looks if look.verb == "read"),
        lists=count_audited_list_reads(tenant=tenant, since=since),
        since=since,
        now=timezone.now(),
        period=period,
        periods=list(PERIOD_WORDS.items()),
        section="audit",
    )


def _build_group_rows(
    tenant: Tenant, entries: Sequence[AuditEntry], *, continued: date | None
) -> list[AuditGroupRow]:
    names = _find_user_names(
        tenant, [each.user_uuid for each in entries if each.user_uuid]
    )
    members = find_audited_members(
        tenant=tenant, keys=[each.actor_key for each in entries]
    )
    rows: list[AuditGroupRow] = []
    day = continued
    for group in group_audit_entries(entries):
        last = group.last
        member = members.get(last.actor_key)
        rows.append(
            AuditGroupRow(
                group=group,
                name=(member.name if member else "") or last.actor_label,
                member=member,
                roles=[str(Role(each).label) for each in member.roles]
                if member
                else [],
                who=str(ACTOR_WORDS.get(last.actor_kind, last.actor_kind)),
                users=[(each, names.get(each, "")) for each in group.user_uuids],
                rows=[_build_row(each, names) for each in group.entries],
                day=None if group.day == day else group.day,
            )
        )
        day = group.day
    return rows


def _build_row(entry: AuditEntry, names: Mapping[UUID, str]) -> AuditRow:
    return AuditRow(
        entry=entry,
        deed=describe_audited_action(entry.verb, entry.subject),
        thing=describe_audited_object(entry),
        part=describe_audited_list_part(entry.subject_id),
        user_name=names.get(entry.user_uuid, "") if entry.user_uuid else "",
        changes=list_audit_entry_changes(entry.changes),
    )


def _find_user_names(tenant: Tenant, uuids: Iterable[UUID]) -> dict[UUID, str]:
    names: dict[UUID, str] = {}
    unique_uuids = sorted(set(uuids))
    for book in list_user_books():
        if unique_uuids:
            names.update(book.names(tenant, unique_uuids))
    return names


def _write_cursor(after: tuple[datetime, int] | None) -> str:
    return f"{after[0].timestamp():.6f}-{after[1]}" if after else ""


def _read_cursor(text: str) -> tuple[datetime, int] | None:
    at, _, key = text.partition("-")
    try:
        return datetime.fromtimestamp(float(at), UTC), int(key)
    except (ValueError, OverflowError, OSError):
        return None
