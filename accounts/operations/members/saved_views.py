"""Save, change and delete named list filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Member, SavedView
from accounts.models.saved_view import NAME_MAX_LENGTH, QUERY_MAX_LENGTH
from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor

# More are a list of their own, which nobody reads.
MOST_VIEWS = 30


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """A view's name, whether it is shared and whether it is the default."""

    name: str
    is_shared: bool = False
    is_default: bool = False


@transaction.atomic
def create_saved_view(
    *,
    tenant: Tenant,
    actor: Actor,
    member: Member,
    page: str,
    query: str,
    settings: ViewSettings,
) -> SavedView:
    """Save a list's query string for this member; a new default replaces the old.

    `query` is normalised by the caller. Raises: query_missing, query_too_long,
    name_missing, name_too_long, name_taken, too_many_views. Source: Ours (workflows,
    shared rules): what is looked at daily is one click away.
    """
    if not query:
        raise DomainError(
            "query_missing", _("Set a filter first, then save the view."), "name"
        )
    if len(query) > QUERY_MAX_LENGTH:
        raise DomainError(
            "query_too_long", _("Too many filters to save. Remove some."), "name"
        )
    _lock_member(member.pk)
    own = SavedView.objects.for_tenant(tenant).filter(member=member, page=page)
    if own.count() >= MOST_VIEWS:
        raise DomainError(
            "too_many_views",
            _("A list can have %(most)d views. Delete one first.")
            % {"most": MOST_VIEWS},
            "name",
        )
    view = SavedView(tenant=tenant, member=member, page=page, query=query)
    _save_settings(view, settings)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="save_view",
        subject="saved_view",
        subject_id=view.id,
        changes={"name": [None, view.name], "is_shared": [None, view.is_shared]},
    )
    return view


@transaction.atomic
def change_saved_view(
    *, view: SavedView, actor: Actor, settings: ViewSettings
) -> SavedView:
    """Rename a view, or change whether it is shared or the default.

    What stays the same writes nothing. Raises: name_missing, name_too_long,
    name_taken. Source: as create_saved_view.
    """
    _lock_member(view.member_id)
    view.refresh_from_db()
    before = ViewSettings(view.name, view.is_shared, view.is_default)
    _save_settings(view, settings)
    changes = {
        field: [getattr(before, field), getattr(view, field)]
        for field in ("name", "is_shared", "is_default")
        if getattr(before, field) != getattr(view, field)
    }
    if changes:
        record_change(
            tenant=view.tenant,
            actor=actor,
            verb="change_view",
            subject="saved_view",
            subject_id=view.id,
            changes=changes,
        )
    return view


@transaction.atomic
def delete_saved_view(*, view: SavedView, actor: Actor) -> None:
    """Delete a view, for everyone if it was shared. Source: as create_saved_view."""
    view_id = view.id
    view.delete()
    record_change(
        tenant=view.tenant,
        actor=actor,
        verb="delete_view",
        subject="saved_view",
        subject_id=view_id,
        changes={"name": [view.name, None]},
    )


def _lock_member(member_id: UUID) -> None:
    """Serialize changes of a member's views, for the limit and the default.

    A row of theirs would not do: the first view has none to lock.
    """
    Member.objects.select_for_update(no_key=True).get(pk=member_id)


def _save_settings(view: SavedView, settings: ViewSettings) -> None:
    name = " ".join(settings.name.split())
    if not name:
        raise DomainError("name_missing", _("Enter a name for the view."), "name")
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError(
            "name_too_long",
            _("Enter at most %(most)d characters.") % {"most": NAME_MAX_LENGTH},
            "name",
        )
    if settings.is_default:
        SavedView.objects.for_tenant(view.tenant).filter(
            member=view.member_id, page=view.page, is_default=True
        ).exclude(pk=view.pk).update(is_default=False)
    view.name = name
    view.is_shared = settings.is_shared
    view.is_default = settings.is_default
    try:
        with transaction.atomic():
            if view._state.adding:
                view.save(force_insert=True)
            else:
                view.save(update_fields=["name", "is_shared", "is_default"])
    except IntegrityError as clash:
        if "saved_view_name_once" not in str(clash):
            raise
        raise DomainError(
            "name_taken", _("You already have a view with this name."), "name"
        ) from None


def delete_saved_views_filtering_by_ids(
    *, tenant_pk: int, names: Collection[str]
) -> int:
    """Delete all views that filter by one of these ids; return how many.

    In the transaction that erases the user they name. Source: Ours: without the user
    such a view shows nothing.
    """
    views = SavedView.unscoped.filter(tenant_id=tenant_pk)
    naming = [
        pk
        for pk, query in views.values_list("pk", "query")
        if any(value in names for _, value in parse_qsl(query))
    ]
    return views.filter(pk__in=naming).delete()[0]
