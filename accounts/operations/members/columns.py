"""Keep which columns of a list a member sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from accounts.models import Member

if TYPE_CHECKING:
    from collections.abc import Collection

    from portal.ui.columns import ListColumns


@transaction.atomic
def set_shown_columns(
    *, member: Member, declared: ListColumns, shown: Collection[str]
) -> Member:
    """Show these columns of a list to the member, in all teams; hide its others.

    What differs from usual is kept, so that a column that is new one day is seen. Keys
    that the list does not have are ignored. Not audited: it changes nothing that others
    see.
    Source: Ours: on every device, unlike what a browser keeps.
    """
    changed = [
        column.key
        for column in declared.columns
        if not column.is_fixed and (column.key in shown) == column.is_extra
    ]
    member = Member.objects.select_for_update().get(pk=member.pk)
    lists = member.changed_columns
    others = {key: value for key, value in lists.items() if key != declared.key}
    member.changed_columns = others | ({declared.key: changed} if changed else {})
    member.save(update_fields=["changed_columns"])
    return member
