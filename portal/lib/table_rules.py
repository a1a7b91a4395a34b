"""The rules of a table, declared beside its model and read by whatever needs them.

Erasure, retention, data map, key rotation, row security and the isolation report all
read `list_table_rules`. A new table needs its model and its migration, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.apps import apps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import Model


@dataclass(frozen=True, slots=True)
class ErasureRule:
    """How to find a user's rows, which are erased with the user unless `why` is given.

    Any of `lookups` finds them by the user's uuid ("delivery__user_uuid"), or with
    `by_key` by the user's key. `why` is the reason for keeping them.
    """

    lookups: tuple[str, ...]
    why: str = ""
    by_key: bool = False


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """When rows of a table are removed by age.

    `after` says when in words, `job` is the periodic job that removes them.
    """

    after: str
    job: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRules:
    """The rules of one table: the class attribute `rules` of its model.

    Owner: nothing for a TenantOwned model, else `without_tenant` is the reason why a
    row belongs to no tenant. `without_fence` is the reason why PostgreSQL does not
    restrict a tenant table to its tenant (enable_tenant_row_security); empty: it does.

    Erasure: nothing where foreign keys lead to a user, whose rows are erased with the
    user. Else `erasure` finds them, or `without_user` is the reason why no row is about
    a user. Both win over foreign keys.

    Retention, for a table with a date or time: `data_classes` are the names in
    accounts.declarations.data_classes, where a team chooses it; of several, the data
    map shows the last by name. Else `retention` is a rule, or the reason why rows stay.

    Encryption, for key rotation: `encrypted` are text columns that hold what
    portal.lib.secrets.encryption made of a secret, or nothing. `encrypted_members`
    names, by JSON column, the members that are such a text or a list of them; they may
    be missing. Secrets that live for hours need none: they end before their key does.

    Samples: `route_parameters` names the column that holds each parameter of a URL, so
    that the isolation report finds a row to call it with. `team_lookup` leads to the
    team whose rows they are, for a table without tenant. `owner_lookup` leads to the
    tenant of rows that are some tenant's own, in a table that all share: they are
    erased with its team.

    Archive: `archive_values` are expressions by name, which a user's archive has in
    each row beside the columns. `archive_without` are columns that it leaves out: what
    opens something, and what only this installation can read.

    ValueError for two rules of a kind. Source: Ours.
    """

    without_tenant: str = ""
    without_fence: str = ""
    erasure: ErasureRule | None = None
    without_user: str = ""
    retention: RetentionRule | str = ""
    data_classes: tuple[str, ...] = ()
    encrypted: tuple[str, ...] = ()
    encrypted_members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    route_parameters: Mapping[str, str] = field(default_factory=dict)
    team_lookup: str = ""
    owner_lookup: str = ""
    archive_values: Mapping[str, Any] = field(default_factory=dict)
    archive_without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse rules that exclude each other."""
        if self.erasure and self.without_user:
            raise ValueError("give either erasure or without_user")
        if self.retention and self.data_classes:
            raise ValueError("give either retention or data_classes")


_library_rules: dict[str, TableRules] = {}


def declare_table_rules(rules: Mapping[str, TableRules]) -> None:
    """Declare the rules of libraries' tables by label, such as "mfa.Authenticator".

    Call it in the `models` of the app that uses the library. ValueError if declared.
    """
    if twice := _library_rules.keys() & rules.keys():
        raise ValueError(f"declared already: {', '.join(sorted(twice))}")
    _library_rules.update(rules)


def find_table_rules(model: type[Model]) -> TableRules | None:
    """Return the rules declared for a model, None if there are none.

    Rules are not inherited. The table of a many-to-many field is without users for the
    same reason as its owner.
    """
    rules = vars(model).get("rules") or _library_rules.get(model._meta.label)
    owner: Any = model._meta.auto_created
    if rules is None and owner:
        of_owner = find_table_rules(owner)
        return of_owner and TableRules(without_user=of_owner.without_user)
    return rules


def list_table_rules() -> list[tuple[type[Model], TableRules]]:
    """Return every installed model with its rules, by label; undeclared: the defaults.

    Tables of many-to-many fields are included. LookupError for rules of no model.
    """
    for label in _library_rules:
        apps.get_model(label)
    models = apps.get_models(include_auto_created=True)
    return [
        (model, find_table_rules(model) or TableRules())
        for model in sorted(models, key=lambda each: each._meta.label)
    ]
