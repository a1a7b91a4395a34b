"""SavedView: a named set of list filters, of one member or the whole team."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

NAME_MAX_LENGTH = 60
QUERY_MAX_LENGTH = 1000


class SavedView(TenantOwned):
    """The saved filters of a list in one environment.

    `page` names the list's URL ("users:list"). `query` is its query string, sorted and
    without the place in the list, so that equal views have equal queries. A default is
    what its own member sees on opening the list.
    """

    rules = TableRules(
        without_fence="filters of lists",
        without_user="views that name the user are removed",
        retention="with the member's account",
        route_parameters={"view_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    member = models.ForeignKey(
        "accounts.Member", on_delete=models.CASCADE, related_name="+"
    )
    page = models.CharField(max_length=60)
    name = models.CharField(max_length=NAME_MAX_LENGTH)
    query = models.CharField(max_length=QUERY_MAX_LENGTH)
    is_shared = models.BooleanField(default=False)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("saved view")
        verbose_name_plural = gettext_lazy("saved views")
        constraints = [
            models.UniqueConstraint(
                "tenant", "member", "page", Lower("name"), name="saved_view_name_once"
            ),
            models.UniqueConstraint(
                fields=["tenant", "member", "page"],
                condition=models.Q(is_default=True),
                name="saved_view_one_default",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "page"],
                condition=models.Q(is_shared=True),
                name="saved_view_shared",
            )
        ]

    def __str__(self) -> str:
        return f"{self.page} {self.id}"
