"""Rules of tables: where they are declared and which exclude each other."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group

from labs.models import LabTest, Order
from portal.lib import table_rules
from portal.lib.table_rules import (
    ErasureRule,
    RetentionRule,
    TableRules,
    declare_table_rules,
    find_table_rules,
    list_table_rules,
)


@pytest.mark.parametrize(
    "two",
    [
        {"erasure": ErasureRule(("user_uuid",)), "without_user": "numbers"},
        {"retention": RetentionRule("7 days", "users.sweep"), "data_classes": ("x",)},
        {"retention": "with its user", "data_classes": ("orders",)},
    ],
)
def test_two_rules_of_a_kind_are_refused(two):
    with pytest.raises(ValueError, match="give either"):
        TableRules(**two)


def test_rules_are_found_at_the_model_and_never_inherited():
    class Child(Order):
        class Meta:
            app_label = "labs"
            abstract = True  # else it would be a table

    assert find_table_rules(Order) is Order.rules
    assert find_table_rules(Child) is None


def test_a_table_of_a_many_to_many_field_is_without_users_as_its_owner_is():
    through = LabTest.markers.through
    rules = find_table_rules(through)

    assert rules == TableRules(without_user=LabTest.rules.without_user)
    assert (through, rules) in list_table_rules()


def test_a_library_table_is_declared_once():
    assert find_table_rules(Authenticator).team_lookup == "user__memberships__team"
    with pytest.raises(ValueError, match=r"declared already: auth\.Group"):
        declare_table_rules({"auth.Group": TableRules(without_user="again")})
    assert find_table_rules(Group).without_user == "belongs to teams and members"


def test_rules_of_no_table_are_an_error(monkeypatch):
    known = dict(table_rules._library_rules)
    monkeypatch.setattr(table_rules, "_library_rules", known)
    declare_table_rules({"auth.Gone": TableRules(without_user="gone")})

    with pytest.raises(LookupError, match="Gone"):
        list_table_rules()
