"""The audit log page, its export, and the access log of one user."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.declarations.hooks import list_app_hooks
from accounts.operations.audit.entries import record_read
from accounts.queries.audit import (
    AuditFilters,
    Kind,
    count_audited_list_reads,
    has_audit_entries_of_user,
    iterate_audit_entries_in_chunks,
    list_accesses_to_user_data,
    list_latest_audit_actors,
    read_audit_page,
)
from accounts.states import Area
from accounts.web.audit.descriptions import (
    ACTOR_WORDS,
    Change,
    describe_audited_action,
    describe_audited_list_part,
    find_audited_object_id,
    list_audit_entry_changes,
)
from accounts.web.rights import require_right
from portal.lib.errors import NotFound
from portal.lib.tenancy import iterate_as_tenant
from portal.lib.translation import gettext_lazy
from portal.lib.web.csv_files import (
    build_csv_download,
    escape_spreadsheet_formula,
    format_csv_timestamp,
)
from portal.lib.web.views import is_page_fragment_requested, render_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from django.http import HttpResponse, QueryDict

    from accounts.declarations.hooks import UserBook
    from accounts.models import AuditEntry, Tenant
    from accounts.web.requests import TenantRequest

PAGE_SIZE = 50
PERIODS = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "quarter": timedelta(days=91),
    "year": timedelta(days=366),
    "all": None,
}
PERIOD_WORDS = {
    "day": gettext_lazy("Last 24 hours"),
    "week": gettext_lazy("Last 7 days"),
    "month": gettext_lazy("Last 30 days"),
    "quarter": gettext_lazy("Last 3 months"),
    "year": gettext_lazy("Last year"),
    "all": gettext_lazy("All time"),
}
# So that no search begins at the first entry of years by accident.
USUAL_PERIOD = "month"
USUAL_LOOKS = "year"
COLUMNS = (
    *("id", "tenant_id", "at", "verb", "subject", "subject_id", "user_id"),
    *("actor_kind", "actor_key", "actor_label", "address", "changes", "request_id"),
)


class AuditForm(forms.Form):
    """Parse the audit's query string; invalid values are ignored."""

    kind = forms.ChoiceField(required=False, choices=Kind.offered)
    verb = forms.RegexField(r"^[a-z_]+\Z", required=False, max_length=60)
    subject = forms.CharField(required=False, max_length=60)
    actor = forms.CharField(required=False, max_length=80)
    user = forms.UUIDField(required=False)
    q = forms.CharField(required=False, max_length=80)
    period = forms.ChoiceField(required=False, choices=list(PERIOD_WORDS.items()))
    since = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M"])
    until = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M"])


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """The audit's filters, all valid."""

    kind: str = ""
    verb: str = ""
    subject: str = ""
    actor: str = ""
    user: UUID | None = None
    q: str = ""
    period: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def read(cls, query: QueryDict) -> AuditQuery:
        """Parse a query string."""
        form = AuditForm(query)
        form.is_valid()
        values = {
            name: value
            for name, value in form.cleaned_data.items()
            if value and "\0" not in str(value)
        }
        return cls(**values)

    def filters(self, tenant: Tenant) -> AuditFilters:
        """Return the filters for the query; resolve a client_user_id."""
        since = self.since
        period = PERIODS[self.period or USUAL_PERIOD]
        if period and not (self.since or self.until):
            since = timezone.now() - period
        filters = AuditFilters(
            kind=self.kind,
            verb=self.verb,
            subject=self.subject,
            actor=self.actor,
            user=self.user,
            begins=self.q.strip(),
            since=since,
            until=self.until,
        )
        for book in _list_user_books():
            if filters.begins and (found := book.find(tenant, filters.begins)):
                return replace(filters, begins="", user=found)
        return filters

    @property
    def kept(self) -> list[tuple[str, object]]:
        """Return the query string as pairs."""
        kept: list[tuple[str, object]] = [
            ("kind", self.kind),
            ("verb", self.verb),
            ("subject", self.subject),
            ("actor", self.actor),
            ("user", self.user),
            ("q", self.q),
            ("period", self.period),
            ("since", self.since_input),
            ("until", self.until_input),
        ]
        return [(name, value) for name, value in kept if value]

    @property
    def kept_but_search(self) -> list[tuple[str, object]]:
        """Return the query string without the search text."""
        return [(name, value) for name, value in self.kept if name != "q"]

    @property
    def kept_but_time(self) -> list[tuple[str, object]]:
        """Return the query string without the period."""
        time = {"period", "since", "until"}
        return [(name, value) for name, value in self.kept if name not in time]

    @property
    def since_input(self) -> str:
        """Return the first minute as an input's value."""
        return _format_minute(self.since)

    @property
    def until_input(self) -> str:
        """Return the minute after the last as an input's value."""
        return _format_minute(self.until)

    @property
    def kind_words(self) -> str:
        """Return the label of the kind, or empty."""
        known = Kind.known(self.kind)
        return str(known.label) if known else ""

    @property
    def time_words(self) -> str:
        """Return the label of the period, or empty for the default."""
        if self.since or self.until:
            since = self.since_input.replace("T", " ") or _("the beginning")
            until = self.until_input.replace("T", " ") or _("now")
            return _("%(start)s to %(end)s") % {"start": since, "end": until}
        return PERIOD_WORDS.get(self.period, "")


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry as the page shows it; `user_name` is empty for erased users."""

    entry: AuditEntry
    who: str
    deed: str
    thing: str
    part: str
    user_name: str
    changes: list[Change]


@require_GET
@require_right(Area.AUDIT)
def show_audit_log(request: TenantRequest) -> HttpResponse:
    audit_query = AuditQuery.read(request.GET)
    filters = audit_query.filters(request.tenant)
    page = read_audit_page(
        tenant=request.tenant,
        filters=filters,
        before=_read_cursor(request.GET.get("before", "")),
        limit=PAGE_SIZE,
    )
    listed: dict[str, Any] = {
        "rows": _build_rows(request.tenant, page.entries),
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
    actors = list_latest_audit_actors(tenant=request.tenant)
    return render_page(
        request,
        "accounts/audit.html",
        fragment="accounts/_audit.html",
        kinds=Kind.offered(),
        periods=list(PERIOD_WORDS.items()),
        actors=[
            (key, f"{label}, {ACTOR_WORDS.get(kind, kind).lower()}")
            for kind, key, label in actors
        ],
        actor_words=next(
            (n for _, k, n in actors if k == audit_query.actor), audit_query.actor
        ),
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
    filters = AuditQuery.read(request.GET).filters(request.tenant)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="audit_file",
        subject_id=form,
        user_uuid=filters.user,
    )
    write = _write_ndjson if form == "ndjson" else _write_csv
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
    return render_page(
        request,
        "accounts/access_log.html",
        user_uuid=user_uuid,
        user_name=_find_user_names(tenant, [user_uuid]).get(user_uuid, ""),
        lines=lines,
        readers=len({(look.actor_kind, look.actor_key) for look in looks}),
        reads=sum(look.times for look in looks if look.verb == "read"),
        lists=count_audited_list_reads(tenant=tenant, since=since),
        since=since,
        now=timezone.now(),
        period=period,
        periods=list(PERIOD_WORDS.items()),
        section="audit",
    )


def _build_rows(tenant: Tenant, entries: Sequence[AuditEntry]) -> list[AuditRow]:
    names = _find_user_names(
        tenant, [each.user_uuid for each in entries if each.user_uuid]
    )
    return [
        AuditRow(
            entry=entry,
            who=ACTOR_WORDS.get(entry.actor_kind, entry.actor_kind),
            deed=describe_audited_action(entry.verb, entry.subject),
            thing=_describe_object(entry),
            part=describe_audited_list_part(entry.subject_id),
            user_name=names.get(entry.user_uuid, "") if entry.user_uuid else "",
            changes=list_audit_entry_changes(entry.changes),
        )
        for entry in entries
    ]


def _list_user_books() -> list[UserBook]:
    return [book for app in list_app_hooks() for book in app.user_books]


def _find_user_names(tenant: Tenant, uuids: Iterable[UUID]) -> dict[UUID, str]:
    names: dict[UUID, str] = {}
    unique_uuids = sorted(set(uuids))
    for book in _list_user_books():
        if unique_uuids:
            names.update(book.names(tenant, unique_uuids))
    return names


def _entry_cells(entry: AuditEntry) -> tuple[Any, ...]:
    """Return an entry's values in the order of COLUMNS, as sealed."""
    return (
        entry.pk,
        entry.tenant_id,
        entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        entry.verb,
        entry.subject,
        entry.subject_id,
        str(entry.user_uuid) if entry.user_uuid else None,
        entry.actor_kind,
        entry.actor_key,
        entry.actor_label,
        entry.address,
        entry.changes,
        entry.request_id,
    )


def _write_ndjson(chunks: Iterable[Sequence[AuditEntry]]) -> Iterator[bytes]:
    for chunk in chunks:
        lines = (dict(zip(COLUMNS, _entry_cells(each), strict=True)) for each in chunk)
        yield "".join(
            json.dumps({**line, "says": describe_audit_entry(each)}, ensure_ascii=False)
            + "\n"
            for line, each in zip(lines, chunk, strict=True)
        ).encode()


def _write_csv(chunks: Iterable[Sequence[AuditEntry]]) -> Iterator[bytes]:
    yield (",".join((*COLUMNS, "says")) + "\r\n").encode()
    for chunk in chunks:
        text = io.StringIO()
        writer = csv.writer(text)
        for each in chunk:
            *cells, changes, request_id = _entry_cells(each)
            changed = json.dumps(changes, ensure_ascii=False) if changes else ""
            cells += [changed, request_id, describe_audit_entry(each)]
            writer.writerow(
                "" if c is None else escape_spreadsheet_formula(str(c)) for c in cells
            )
        yield text.getvalue().encode()


def describe_audit_entry(entry: AuditEntry) -> str:
    """Return an entry as one sentence, without changed values."""
    what = describe_audited_action(entry.verb, entry.subject)
    object_id = _describe_object(entry)
    whose = f" of user {entry.user_uuid}" if entry.user_uuid else ""
    return f"{entry.actor_label} {what}{f' {object_id}' if object_id else ''}{whose}"


def _describe_object(entry: AuditEntry) -> str:
    """Return the object's ID, unless it is the actor's own."""
    if entry.subject_id == entry.actor_key:
        return ""
    return find_audited_object_id(entry.subject, entry.subject_id, entry.user_uuid)


def _format_minute(moment: datetime | None) -> str:
    if moment is None:
        return ""
    return f"{timezone.localtime(moment):%Y-%m-%dT%H:%M}"


def _write_cursor(after: tuple[datetime, int] | None) -> str:
    return f"{after[0].timestamp():.6f}-{after[1]}" if after else ""


def _read_cursor(text: str) -> tuple[datetime, int] | None:
    at, _, key = text.partition("-")
    try:
        return datetime.fromtimestamp(float(at), UTC), int(key)
    except (ValueError, OverflowError, OSError):
        return None
