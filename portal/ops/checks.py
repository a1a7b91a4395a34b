"""System checks of our own settings; each has an id, a sentence and a hint."""

from __future__ import annotations

from importlib.util import find_spec
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import admin
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from portal.lib.network.scanning import SCANNERS, parse_scanner_address
from portal.lib.storage.address import AddressInvalid, parse_storage_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.apps import AppConfig

# Names of labs.operations.gateways, which checks don't import: it loads HL7.
LAB_GATEWAYS = frozenset({"", "hl7"})


@register(Tags.compatibility)
def check_time_zone(**_: Any) -> list[CheckMessage]:
    """Check that the server's zone is UTC: times are converted for display only."""
    if settings.TIME_ZONE == "UTC" and settings.USE_TZ:
        return []
    return [Error("TIME_ZONE is not UTC.", hint="Set it to UTC.", id="portal.E001")]


@register(Tags.security)
def check_public_url(**_: Any) -> list[CheckMessage]:
    """Check that PUBLIC_URL is an absolute http or https address."""
    parts = urlsplit(settings.PUBLIC_URL)
    if parts.scheme in {"http", "https"} and parts.netloc:
        return []
    return [
        Error(
            "PUBLIC_URL is not an absolute URL.",
            hint="Set it to the address that people use, such as https://assay.example.",
            id="portal.E002",
        )
    ]


@register(Tags.admin)
def check_admin_pages(
    app_configs: Sequence[AppConfig] | None, **_: Any
) -> list[CheckMessage]:
    """Check the admin pages, which Django's own check finds only once they loaded."""
    admin.autodiscover()
    return admin.site.check(app_configs)


@register(Tags.security)
def check_allowed_hosts(**_: Any) -> list[CheckMessage]:
    """Check that ALLOWED_HOSTS lists names and no wildcard."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Warning(
            "ALLOWED_HOSTS is *, so any host name is accepted.",
            hint="List the host names and addresses of this server.",
            id="portal.W001",
        )
    ]


@register(Tags.compatibility)
def check_lab_gateway(**_: Any) -> list[CheckMessage]:
    """Check that LAB_GATEWAY names a lab gateway, or none."""
    if settings.LAB_GATEWAY in LAB_GATEWAYS:
        return []
    return [
        Error(
            "LAB_GATEWAY names no lab gateway.",
            hint="Set it to hl7, or leave it empty: production orders are then refused."
            " Sandbox environments need no setting.",
            id="portal.E015",
        )
    ]


@register(Tags.compatibility)
def check_source_settings(**_: Any) -> list[CheckMessage]:
    """Check that OURA_PORTAL is known and that each client ID has its secret."""
    found: list[CheckMessage] = []
    if settings.OURA_PORTAL not in {"developer", "cloud"}:
        found.append(
            Error(
                "OURA_PORTAL is neither developer nor cloud.",
                hint="Set it to the portal where the application is registered.",
                id="portal.E005",
            )
        )
    for source in ("OURA", "WITHINGS"):
        names = f"{source}_CLIENT_ID", f"{source}_CLIENT_SECRET"
        if len({bool(getattr(settings, name)) for name in names}) > 1:
            found.append(
                Error(
                    f"{names[0]} or {names[1]} is missing.",
                    hint=f"Set both to offer {source.capitalize()}, or neither.",
                    id="portal.E006",
                )
            )
    return found


@register(Tags.compatibility)
def check_trusted_proxies(**_: Any) -> list[CheckMessage]:
    """Check that every entry of TRUSTED_PROXIES is an IP network."""
    try:
        for each in settings.TRUSTED_PROXIES:
            ip_network(each)
    except ValueError:
        return [
            Error(
                "TRUSTED_PROXIES contains an invalid address or network.",
                hint="Write each as 192.0.2.7 or 10.0.0.0/8, comma-separated.",
                id="portal.E010",
            )
        ]
    return []


@register(Tags.compatibility)
def check_api_rate_limits(**_: Any) -> list[CheckMessage]:
    """Check that the limits and days of API calls are not negative."""
    names = (
        *("API_CALLS_PER_KEY", "API_CALLS_PER_ADDRESS"),
        *("API_CALL_LOG_DAYS", "API_CALL_LOG_ROWS"),
    )
    return [
        Error(f"{name} is negative.", hint="0 means none.", id="portal.E011")
        for name in names
        if getattr(settings, name) < 0
    ]


@register(Tags.compatibility)
def check_upload_scanner(**_: Any) -> list[CheckMessage]:
    """Check that UPLOAD_SCANNER is a supported malware scanner with an address."""
    address = parse_scanner_address()
    if not settings.UPLOAD_SCANNER or (
        address.scheme in SCANNERS and (address.hostname or address.path)
    ):
        return []
    return [
        Error(
            "UPLOAD_SCANNER is not a valid scanner URL.",
            hint="Write it as clamd://host:3310 or clamd:///path/of/socket.",
            id="portal.E012",
        )
    ]


@register(Tags.compatibility)
def check_storage_url(**_: Any) -> list[CheckMessage]:
    """Check that STORAGE_URL can be parsed and that the bucket client is installed."""
    return _check_bucket_url("STORAGE_URL", settings.STORAGE_URL)


@register(Tags.compatibility)
def check_lake_place(**_: Any) -> list[CheckMessage]:
    """Check that the lake has one place, which can be read."""
    if not settings.LAKE_URL:
        return []
    if settings.LAKE_DIR:
        return [
            Error(
                "LAKE_DIR and LAKE_URL are both set.",
                hint="Choose one: the lake is in a folder or in a bucket.",
                id="portal.E016",
            )
        ]
    return _check_bucket_url("LAKE_URL", settings.LAKE_URL)


def _check_bucket_url(name: str, url: str) -> list[CheckMessage]:
    if not url:
        return []
    try:
        parse_storage_url(url)
    except AddressInvalid as invalid:
        return [
            Error(
                f"{name} can't be read: {invalid}.",
                hint="Write it as s3://key:secret@host/bucket?region=eu-central-1, with"
                " %2F for / and %40 for @ in the secret.",
                id="portal.E013",
            )
        ]
    if find_spec("boto3") is None:
        return [
            Error(
                f"{name} needs boto3, which is not installed.",
                hint="Run `uv sync --no-dev --group s3`.",
                id="portal.E014",
            )
        ]
    return []


@register(Tags.security, deploy=True)
def check_public_url_is_https(**_: Any) -> list[CheckMessage]:
    """Check that production is reached over https."""
    if settings.HTTPS:
        return []
    return [
        Error(
            "PUBLIC_URL does not use https.",
            hint="Cookies and health data must not cross a network unencrypted.",
            id="portal.E003",
        )
    ]


@register(Tags.database)
def check_database_role(
    databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Check that with DEBUG off the role is no superuser and has no BYPASSRLS."""
    if settings.DEBUG or not databases:
        return []
    from portal.ops import health  # brings the API's parsers: not with every command

    found = health.check_database_role()
    if found.ok:
        return []
    return [Error(found.sentence, hint=found.remedy, id="portal.E004")]
