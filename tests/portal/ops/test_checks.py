from __future__ import annotations

import pytest
from django.contrib import admin
from django.core.checks import run_checks

from accounts.models import Organisation
from labs.operations.gateways import GATEWAYS
from portal.ops import checks, health
from portal.ops.health.findings import Finding


def failing(*, deploy: bool = False, databases: list[str] | None = None) -> set[str]:
    """The ids of our own checks that fail."""
    found = run_checks(include_deployment_checks=deploy, databases=databases)
    return {each.id for each in found if each.id.startswith("portal.")}


def test_the_suite_s_own_settings_pass():
    assert failing() == set()


def test_the_admin_pages_are_checked_though_they_load_with_the_urls(monkeypatch):
    assert checks.check_admin_pages(app_configs=None) == []
    page = admin.site.get_model_admin(Organisation)
    monkeypatch.setattr(type(page), "list_display", ("no_such_column",))

    found = checks.check_admin_pages(app_configs=None)

    assert [each.id for each in found] == ["admin.E108"]


def test_a_server_outside_utc_is_refused(settings):
    settings.TIME_ZONE = "Europe/Lisbon"

    assert failing() == {"portal.E001"}


@pytest.mark.parametrize("address", ["assay.example", "ftp://assay.example", "", "//"])
def test_an_address_that_is_not_absolute_is_refused(settings, address):
    settings.PUBLIC_URL = address

    assert failing() == {"portal.E002"}


def test_answering_to_any_host_name_is_warned_of(settings):
    settings.ALLOWED_HOSTS = ["assay.example", "*"]

    assert failing() == {"portal.W001"}


def test_proxies_and_limits_that_mean_nothing_are_refused(settings):
    settings.TRUSTED_PROXIES = ["10.0.0.0/8", "the proxy"]
    settings.API_CALLS_PER_KEY = -1

    assert failing() == {"portal.E010", "portal.E011"}


@pytest.mark.parametrize("name", ["sandbox", "HL7", "astm"])
def test_a_lab_gateway_that_there_is_not_is_refused(settings, name):
    settings.LAB_GATEWAY = name

    assert failing() == {"portal.E015"}


def test_the_lab_gateways_checked_are_those_there_are(settings):
    assert frozenset({"", *GATEWAYS}) == checks.LAB_GATEWAYS


def test_half_an_application_at_oura_is_refused(settings):
    settings.OURA_CLIENT_ID = "our-id"
    settings.OURA_PORTAL = "elsewhere"

    assert failing() == {"portal.E005", "portal.E006"}


def test_production_is_reached_over_https(settings):
    settings.HTTPS = False
    plain = failing(deploy=True)
    settings.HTTPS = True

    assert plain == {"portal.E003"}
    assert failing(deploy=True) == set()


@pytest.mark.django_db
def test_a_role_with_special_rights_is_refused_unless_debugging(settings, monkeypatch):
    fit = failing(databases=["default"])
    monkeypatch.setattr(health, "check_database_role", lambda: Finding(False, "It is."))
    unfit = failing(databases=["default"])
    settings.DEBUG = True

    assert fit == set()
    assert unfit == {"portal.E004"}
    assert failing(databases=["default"]) == set()
