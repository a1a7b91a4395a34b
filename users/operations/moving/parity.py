"""Compare each user and resource of two APIs, field by field.

Both are asked over HTTP, as a team's own code asks them. What differs is explained by a
rule of RULES or listed.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from math import isclose
from typing import TYPE_CHECKING, Any

from django.db import transaction

from users.gateways.moving.base import ORDERS, WORKOUT_STREAMS, PlatformUnavailable
from users.models import ParityReport
from users.operations.moving.parity_counts import LISTED_MAX, Difference, Parity
from users.operations.moving.parity_orders import (
    ORDER_RESULTS,
    explain_orders,
    index_orders,
    index_results,
)
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from accounts.models import Tenant
    from users.gateways.moving.assay import AssayApi
    from users.gateways.moving.base import MovedPart, Platform
    from users.gateways.moving.base import MovedUser as TheirUser

# A float's own digits, and no more.
_RELATIVE = 1e-9
# What identifies a summary on the wire, besides its source.
_KEYS = {
    "workouts": "provider_id",
    "sleep": "bedtime_start",
    "sleep_cycle": "session_start",
    "activity": "calendar_date",
    "body": "calendar_date",
    "menstrual_cycle": "period_start",
    "meal": "timestamp",
    "electrocardiogram": "session_start",
}
_SLUGS = {each.event_resource: slug for slug, each in TIMESERIES.items()} | {
    slug: slug for slug in _KEYS
}
# Fields by which elements are stored, or that the server fills itself.
_NOT_COMPARED = {
    *("external_id", "id", "user_id", "source", "created_at", "updated_at"),
    *("source_provider", "source_type", "source_app_id", "source_device_id"),
    *("sleep_id", "date", "type_of_source", "sleep_stream"),
}


def compare_platform(
    *,
    platform: Platform,
    api: AssayApi,
    report: Callable[[Parity], None] = lambda _parity: None,
) -> Parity:
    """Compare all users of a platform with what this API answers.

    Raises: PlatformUnavailable. Source: Ours.
    """
    parity = Parity(platform.name)
    for theirs in platform.list_users():
        parity.users += 1
        parity.of("users").theirs += 1
        found = api.find_user(theirs.client_user_id)
        if found is None:
            _note(parity, theirs, "users", theirs.client_user_id, "", theirs.id, None)
            continue
        parity.of("users").ours += 1
        parity.of("users").equal += 1
        try:
            _compare_user(parity, platform, api, theirs, found["user_id"])
        except PlatformUnavailable as error:
            if error.reason != "status_404":
                raise
            parity.of("users").explained["deleted_there"] += 1
        report(parity)
    return parity


@transaction.atomic
def store_parity_report(*, tenant: Tenant, parity: Parity, made_at: datetime) -> None:
    """Keep a comparison's numbers for the portal, in place of the platform's last.

    Values of users stay out: they are in the operator's file. Source: Ours.
    """
    counts = parity.build_payload(made_at=made_at)
    del counts["differences"]
    mine = ParityReport.objects.for_tenant(tenant)
    mine.filter(platform=parity.platform).delete()
    report = ParityReport(
        tenant=tenant, platform=parity.platform, made_at=made_at, counts=counts
    )
    report.save(force_insert=True)


def _compare_user(
    parity: Parity, platform: Platform, api: AssayApi, theirs: TheirUser, user_id: str
) -> None:
    _compare_sources(parity, platform, api, theirs, user_id)
    expected: dict[tuple[str, bool], list[MovedPart]] = {}
    for feed in platform.feeds:
        for page in platform.read_pages(theirs, feed, ""):
            if page.skipped:
                parity.of(feed).theirs += page.skipped.total()
                parity.of(feed).explained += page.skipped
            for (resource, rule), count in page.converted.items():
                parity.of(resource).converted[rule] += count
            for part in page.parts:
                expected.setdefault((part.resource, part.is_samples), []).append(part)
    orders = expected.pop((ORDERS, False), [])
    streams = expected.pop((WORKOUT_STREAMS, False), [])
    if ORDERS in platform.feeds:
        _compare_orders(parity, api, theirs, user_id, orders)
    if WORKOUT_STREAMS in platform.feeds:
        _compare_streams(parity, api, theirs, user_id, streams)
    for each in api.list_resources(user_id):
        if slug := _SLUGS.get(each):
            expected.setdefault((slug, slug in TIMESERIES), [])
    for (resource, is_samples), parts in expected.items():
        if is_samples:
            ours = _index_samples(resource, api.list_samples(user_id, resource))
            sent = _index_sent(parity, resource, parts, _key_of_sample(resource))
        else:
            listed = api.list_summaries(user_id, resource, SUMMARIES[resource].key)
            ours = _index_summaries(resource, listed)
            sent = _index_sent(parity, resource, parts, _key_of_summary(resource))
        _compare_resource(parity, theirs, resource, sent, ours)


def _compare_orders(
    parity: Parity,
    api: AssayApi,
    theirs: TheirUser,
    user_id: str,
    parts: Iterable[MovedPart],
) -> None:
    elements = {e["order"]["id"]: e for part in parts for e in part.elements}
    orders = explain_orders(parity, api, [e["order"] for e in elements.values()])
    ours = index_orders(api.list_orders(user_id))
    sent = index_orders(orders)
    parity.of(ORDERS).theirs += len(sent)
    _compare_resource(parity, theirs, ORDERS, sent, ours)
    for key in sent.keys() & ours.keys():
        order_id = key[-1]
        expected = index_results(order_id, elements[order_id]["result"])
        answered = index_results(order_id, api.find_results(order_id))
        parity.of(ORDER_RESULTS).theirs += len(expected)
        _compare_resource(parity, theirs, ORDER_RESULTS, expected, answered)


def _compare_streams(
    parity: Parity,
    api: AssayApi,
    theirs: TheirUser,
    user_id: str,
    parts: Iterable[MovedPart],
) -> None:
    """Compare streams channel by channel; a workout is found by its own identity."""
    key_of = _key_of_summary("workouts")
    sent = {
        (part.provider, "", key_of(element["workout"])): element["stream"]
        for part in parts
        for element in part.elements
    }
    workouts = api.list_summaries(user_id, "workouts", SUMMARIES["workouts"].key)
    ours = {
        key: stream
        for key, each in _index_summaries("workouts", workouts).items()
        if (stream := api.get_workout_stream(each["id"]))
    }
    if sent or ours:
        parity.of(WORKOUT_STREAMS).theirs += len(sent)
        _compare_resource(parity, theirs, WORKOUT_STREAMS, sent, ours)


def _compare_sources(
    parity: Parity, platform: Platform, api: AssayApi, theirs: TheirUser, user_id: str
) -> None:
    counts = parity.of("connections")
    ours = api.list_sources(user_id)
    live = {c.provider for c in platform.list_connections(theirs) if c.is_live}
    counts.theirs += len(live)
    counts.ours += len(ours)
    for provider in sorted(live | set(ours)):
        if provider not in ours:
            _note(parity, theirs, "connections", provider, "", "connected", None)
        elif provider not in live:
            _note(parity, theirs, "connections", provider, "", None, ours[provider])
        elif ours[provider] == "connected":
            counts.equal += 1
        else:
            counts.explained["needs_consent"] += 1


_Key = tuple[str, str, str]


def _index_sent(
    parity: Parity,
    resource: str,
    parts: Iterable[MovedPart],
    key_of: Callable[[dict[str, Any]], str],
) -> dict[_Key, dict[str, Any]]:
    """Return what was to be stored by key: of one key the last, the others by rule."""
    counts = parity.of(resource)
    found: dict[_Key, dict[str, Any]] = {}
    for part in parts:
        for element in part.elements:
            counts.theirs += 1
            kind = part.source_type if part.is_samples else ""
            key = (part.provider, kind, key_of(element))
            if key in found:
                counts.explained["same_identity"] += 1
            found[key] = element
    return found


def _key_of_sample(resource: str) -> Callable[[dict[str, Any]], str]:
    name = "start" if TIMESERIES[resource].is_interval else "timestamp"
    return lambda element: _moment(element.get(name) or element["timestamp"])


def _key_of_summary(resource: str) -> Callable[[dict[str, Any]], str]:
    name = _KEYS.get(resource)
    if name is None:  # a profile is one of its source
        return lambda _element: ""
    return lambda element: _moment(str(element[name]))


def _index_samples(
    resource: str, samples: Iterator[tuple[str, str, dict[str, Any]]]
) -> dict[_Key, dict[str, Any]]:
    key_of = _key_of_sample(resource)
    return {
        (provider, kind, key_of(sample)): sample for provider, kind, sample in samples
    }


def _index_summaries(
    resource: str, elements: Iterable[dict[str, Any]]
) -> dict[_Key, dict[str, Any]]:
    key_of = _key_of_summary(resource)
    return {(each["source"]["provider"], "", key_of(each)): each for each in elements}


def _compare_resource(
    parity: Parity,
    theirs: TheirUser,
    resource: str,
    sent: dict[_Key, dict[str, Any]],
    ours: dict[_Key, dict[str, Any]],
) -> None:
    counts = parity.of(resource)
    counts.ours += len(ours)
    for key in sorted(sent.keys() | ours.keys()):
        name = " ".join(part for part in key if part)
        expected, answered = sent.get(key), ours.get(key)
        if expected is None or answered is None:
            rule = _find_rule(resource, expected) if expected else ""
            if rule:
                counts.explained[rule] += 1
            else:
                present = "present"
                _note(
                    parity,
                    theirs,
                    resource,
                    name,
                    "",
                    present if expected else None,
                    present if answered else None,
                )
            continue
        differing = [
            each
            for each in sorted(expected.keys() - _NOT_COMPARED)
            if not _is_equal(expected[each], answered.get(each))
        ]
        counts.fields += len(expected.keys() - _NOT_COMPARED)
        counts.equal += not differing
        for each in differing:
            _note(
                parity, theirs, resource, name, each, expected[each], answered.get(each)
            )


def _find_rule(resource: str, expected: dict[str, Any]) -> str:
    """Return the rule that explains why an element is not here, empty for none."""
    series = TIMESERIES.get(resource)
    if series is None:
        known = resource in {*SUMMARIES, ORDERS, ORDER_RESULTS, WORKOUT_STREAMS}
        return "" if known else "series_without_resource"
    value = expected.get(series.value_key or "value")
    if isinstance(value, int | float) and not series.low <= value <= series.high:
        return "out_of_range"
    return ""


def _is_equal(expected: Any, answered: Any) -> bool:
    """Compare two values: times as moments, numbers as floats, maps by their keys."""
    if isinstance(expected, dict):
        return isinstance(answered, dict) and all(
            _is_equal(value, answered.get(name)) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(answered, list)
            and len(expected) == len(answered)
            and all(map(_is_equal, expected, answered))
        )
    if isinstance(expected, int | float) and isinstance(answered, int | float):
        return isclose(expected, answered, rel_tol=_RELATIVE, abs_tol=1e-12)
    if isinstance(expected, str) and isinstance(answered, str):
        return expected == answered or _moment(expected) == _moment(answered)
    return bool(expected == answered)


def _moment(text: str) -> str:
    """Return one spelling of a moment, UTC where it has no offset; else the text."""
    try:
        if len(text) == len("2000-01-01"):
            return date.fromisoformat(text).isoformat()
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat()


def _note(
    parity: Parity,
    user: TheirUser,
    resource: str,
    key: str,
    name: str,
    theirs: Any,
    ours: Any,
) -> None:
    parity.of(resource).unexplained += 1
    parity.by_field[resource, name] += 1
    if len(parity.listed) < LISTED_MAX:
        parity.listed.append(
            Difference(user.client_user_id, resource, key, name, theirs, ours)
        )
