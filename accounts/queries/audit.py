"""Read the audit: entries by filter, and the access log of one user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Max, Min, Q
from django.db.models.functions import TruncDate

from accounts.models import AuditEntry, Member, Membership
from portal.lib.choices import OpenChoices
from portal.lib.ids import find_uuid_range_of_prefix
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date, datetime
    from zoneinfo import ZoneInfo

    from django.db.models import QuerySet

    from accounts.models import Tenant

READ = "read"
SYSTEM = "system"
CHUNK = 1_000
# Hidden entries are counted up to here: more is "1,000+".
MOST_COUNTED = 1_000
# Names of changes under which operations record a reason that a person entered.
REASONS = ("cancellation_reason", "reason", "why")
# Entries whose actors a filter offers: looking through all of them takes too long.
LATEST = 2_000
# Reads of one member that are looked through for records: a page records a few of them.
OPENED = 300
# Reads of lists, which show many users and name none of them in the audit.
_LISTS = Q(verb=READ, user_uuid=None) & ~Q(subject__startswith="audit")


class Kind(OpenChoices):
    """A kind of audit entries, as a filter."""

    READS = "reads", gettext_lazy("Reads of health data")
    CHANGES = "changes", gettext_lazy("Changes")


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """Filters of audit entries; empty parts do not filter.

    `verb` and `subject` are whole or begin what is asked for, `begins` is how the id of
    a thing, of a user or of a request begins. `actor` is an actor's key. `since` is
    included, `until` is not. `without_system` leaves out what jobs and commands did;
    `with_reason` keeps entries for which a reason was entered.
    """

    kind: str = ""
    verb: str = ""
    subject: str = ""
    actor: str = ""
    user: UUID | None = None
    begins: str = ""
    since: datetime | None = None
    until: datetime | None = None
    without_system: bool = False
    with_reason: bool = False


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of entries, newest first; `after` is where older ones begin."""

    entries: Sequence[AuditEntry]
    after: tuple[datetime, int] | None


@dataclass(frozen=True, slots=True)
class AccessLogLine:
    """How often one actor did one thing with a user's data on one day."""

    day: date
    actor_kind: str
    actor_key: str
    actor_label: str
    verb: str
    subject: str
    times: int
    first_at: datetime
    last_at: datetime


def read_audit_page(
    *,
    tenant: Tenant,
    filters: AuditFilters,
    before: tuple[datetime, int] | None,
    limit: int,
) -> AuditPage:
    """Return matching entries, newest first, older than `before`."""
    rows = filter_audit_entries(tenant=tenant, filters=filters)
    if before:
        at, pk = before
        # The first condition is what an index can begin at.
        rows = rows.filter(at__lte=at).filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))
    found = list(rows.order_by("-at", "-pk")[: limit + 1])
    page = found[:limit]
    more = len(found) > limit
    return AuditPage(page, (page[-1].at, page[-1].pk) if more else None)


def count_hidden_audit_entries(
    *,
    tenant: Tenant,
    filters: AuditFilters,
    page: AuditPage,
    before: tuple[datetime, int] | None,
) -> int:
    """Count entries of the system in the time of a page that leaves them out.

    At most MOST_COUNTED + 1. The page's time begins where the page before it ended and
    ends with its last entry, or with the filters where none are older: so no more is
    looked through than is shown or counted. Source: Ours.
    """
    rows = filter_audit_entries(
        tenant=tenant, filters=replace(filters, without_system=False)
    ).filter(actor_kind=SYSTEM)
    if before:
        rows = rows.filter(at__lte=before[0])
    if page.after:
        rows = rows.filter(at__gt=page.after[0])
    return int(rows.order_by()[: MOST_COUNTED + 1].count())


def iterate_audit_entries_in_chunks(
    *, tenant: Tenant, filters: AuditFilters
) -> Iterator[Sequence[AuditEntry]]:
    """Yield all matching entries, newest first, CHUNK at a time.

    Each chunk is a query of its own: whoever reads names the tenant around each.
    """
    before: tuple[datetime, int] | None = None
    while True:
        page = read_audit_page(
            tenant=tenant, filters=filters, before=before, limit=CHUNK
        )
        if page.entries:
            yield page.entries
        if page.after is None:
            return
        before = page.after


def filter_audit_entries(
    *, tenant: Tenant, filters: AuditFilters
) -> QuerySet[AuditEntry, AuditEntry]:
    """Return matching entries, in no order."""
    rows: QuerySet[AuditEntry, AuditEntry] = AuditEntry.objects.for_tenant(tenant)
    if filters.kind == Kind.READS:
        rows = rows.filter(verb=READ)
    elif filters.kind == Kind.CHANGES:
        rows = rows.exclude(verb=READ)
    if filters.verb:
        rows = rows.filter(verb__startswith=filters.verb)
    if filters.subject:
        rows = rows.filter(subject__startswith=filters.subject)
    if filters.actor:
        rows = rows.filter(actor_key=filters.actor)
    if filters.user:
        rows = rows.filter(user_uuid=filters.user)
    if filters.begins:
        rows = rows.filter(_filter_by_prefix(filters.begins))
    if filters.since:
        rows = rows.filter(at__gte=filters.since)
    if filters.until:
        rows = rows.filter(at__lt=filters.until)
    if filters.without_system:
        rows = rows.exclude(actor_kind=SYSTEM)
    if filters.with_reason:
        rows = rows.filter(changes__has_any_keys=REASONS)
    return rows


def _filter_by_prefix(text: str) -> Q:
    found = Q(subject_id__startswith=text) | Q(request_id__startswith=text)
    if bounds := find_uuid_range_of_prefix(text):
        found |= Q(user_uuid__range=bounds)
    return found


@dataclass(frozen=True, slots=True)
class AuditChoices:
    """What filters offer: actors as kind, key and label, people first; things."""

    actors: list[tuple[str, str, str]]
    subjects: list[str]


def list_latest_audit_choices(*, tenant: Tenant) -> AuditChoices:
    """Return actors and things of the last LATEST entries."""
    rows = AuditEntry.objects.for_tenant(tenant).order_by("-at")
    latest = rows.values_list("actor_kind", "actor_key", "actor_label", "subject")
    actors: dict[tuple[str, str], tuple[str, str, str]] = {}
    subjects = set()
    for kind, key, label, subject in latest[:LATEST]:
        actors.setdefault((kind, key), (kind, key, label))
        subjects.add(subject)
    order = ("member", "api_key", "management", SYSTEM)
    return AuditChoices(
        actors=sorted(
            actors.values(),
            key=lambda each: (
                order.index(each[0]) if each[0] in order else len(order),
                each[2],
            ),
        ),
        subjects=sorted(subjects),
    )


@dataclass(frozen=True, slots=True)
class AuditedMember:
    """A member as the audit names them today; `roles` is empty for who has left."""

    name: str
    email: str
    roles: list[str]


def list_records_opened(
    *, tenant: Tenant, actor_key: str, subjects: Iterable[str], limit: int
) -> list[tuple[str, UUID]]:
    """Return the records of these kinds that an actor read last, each once.

    Newest first, as subject and ID, among the last OPENED reads. One query.
    """
    rows = AuditEntry.objects.for_tenant(tenant).filter(actor_key=actor_key, verb=READ)
    latest = rows.order_by("-at").values_list("subject", "subject_id")[:OPENED]
    wanted = set(subjects)
    opened = (
        (subject, uuid)
        for subject, text in latest
        if subject in wanted and (uuid := _read_uuid(text))
    )
    return list(islice(dict.fromkeys(opened), limit))


def list_changes_of_object(
    *, tenant: Tenant, user_uuid: UUID, subject: str, subject_id: str
) -> list[AuditEntry]:
    """Return up to LATEST changes of one thing of a user, newest first; one query."""
    rows = AuditEntry.objects.for_tenant(tenant).filter(
        user_uuid=user_uuid, subject=subject, subject_id=subject_id
    )
    return list(rows.exclude(verb=READ).order_by("-at", "-id")[:LATEST])


def find_team_members_by_email(
    *, tenant: Tenant, emails: Iterable[str]
) -> dict[str, AuditedMember]:
    """Return members of the team by address: name and roles; one query at most."""
    if not (wanted := set(emails)):
        return {}
    found = Membership.objects.filter(
        team_id=tenant.team_id, member__email__in=wanted
    ).values_list("member__name", "member__email", "roles")
    return {email: AuditedMember(name, email, roles) for name, email, roles in found}


def find_audited_members(
    *, tenant: Tenant, keys: Iterable[str]
) -> dict[str, AuditedMember]:
    """Return members by actor key: their name, address and roles of today."""
    uuids = [found for key in set(keys) if (found := _read_uuid(key))]
    if not uuids:
        return {}
    roles = dict(
        Membership.objects.filter(
            team_id=tenant.team_id, member_id__in=uuids
        ).values_list("member_id", "roles")
    )
    return {
        str(pk): AuditedMember(name, email, roles.get(pk, []))
        for pk, name, email in Member.objects.filter(pk__in=uuids).values_list(
            "pk", "name", "email"
        )
    }


def _read_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def has_audit_entries_of_user(*, tenant: Tenant, user_uuid: UUID) -> bool:
    """Return whether any entry names a user of this id."""
    rows = AuditEntry.objects.for_tenant(tenant)
    return bool(rows.filter(user_uuid=user_uuid).exists())


def list_accesses_to_user_data(
    *,
    tenant: Tenant,
    user_uuid: UUID,
    since: datetime | None,
    zone: ZoneInfo,
) -> list[AccessLogLine]:
    """Return who read or changed a user's data, a line per day, actor and action.

    The newest day comes first; days are those of `zone`. Source: Ours: a key that reads
    every minute would fill a thousand pages otherwise.
    """
    rows = AuditEntry.objects.for_tenant(tenant).filter(user_uuid=user_uuid)
    if since:
        rows = rows.filter(at__gte=since)
    found = (
        rows.order_by()
        .annotate(day=TruncDate("at", tzinfo=zone))
        .values("day", "actor_kind", "actor_key", "actor_label", "verb", "subject")
        .annotate(times=Count("pk"), first_at=Min("at"), last_at=Max("at"))
        .order_by("-day", "-last_at", "actor_label", "verb", "subject")
    )
    return [AccessLogLine(**each) for each in found]


def count_audited_list_reads(*, tenant: Tenant, since: datetime | None) -> int:
    """Count reads of lists, which the entries of a single user do not contain."""
    rows: Any = AuditEntry.objects.for_tenant(tenant).filter(_LISTS)
    if since:
        rows = rows.filter(at__gte=since)
    return int(rows.count())
