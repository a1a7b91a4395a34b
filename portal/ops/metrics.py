"""/metrics for Prometheus: backlogs, workers and how calls went, from the database.

Asked of the database at each scrape, so that every process gives the same figures and
none keeps counts of its own. No label names a team or a person.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest

from accounts.webhooks.queries.deliverers import DELIVERER_NAME
from labs.queries.connections import list_transport_states
from portal.lib.database import rows
from portal.lib.jobs.jobs import HEARTBEAT_TIMEOUT_SECONDS
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpRequest
    from prometheus_client.metrics_core import Metric

WINDOW_S = 300
QUANTILES = (0.5, 0.95, 0.99)

_JOBS = """
SELECT queue_name, count(*) FILTER (WHERE status = 'todo'),
    count(*) FILTER (WHERE status = 'doing'),
    count(*) FILTER (WHERE status = 'failed'),
    coalesce(extract(epoch FROM now() - min(began.at) FILTER (WHERE status = 'todo'
        AND coalesce(scheduled_at, now()) <= now()))::float, 0)
FROM procrastinate_jobs
LEFT JOIN LATERAL (
    SELECT max(event.at) AS at FROM procrastinate_events AS event
    WHERE event.job_id = procrastinate_jobs.id AND status = 'todo'
) AS began ON true
WHERE status IN ('todo', 'doing', 'failed')
GROUP BY queue_name ORDER BY queue_name
"""
_DELIVERIES = """
SELECT count(*), coalesce(extract(epoch FROM now() - min(due_at))::float, 0)
FROM webhooks_delivery WHERE status = 'pending' AND due_at <= now()
"""
_ENDPOINTS = """
SELECT count(*) FILTER (WHERE disabled_at IS NOT NULL),
    count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NOT NULL)
FROM webhooks_endpoint WHERE deleted_at IS NULL
"""
_PROCESSES = """
SELECT
    (SELECT count(*) FROM procrastinate_workers
        WHERE last_heartbeat > now() - make_interval(secs => %(timeout)s)),
    (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = %(deliverer)s)
"""
_CALLS = """
SELECT count(*) FILTER (WHERE status < 400),
    count(*) FILTER (WHERE status BETWEEN 400 AND 499),
    count(*) FILTER (WHERE status >= 500),
    percentile_cont(%(quantiles)s::float8[]) WITHIN GROUP (ORDER BY ms)
FROM accounts_apicall WHERE at > now() - make_interval(secs => %(window)s)
"""


class _Collector:
    """What the installation does at this moment; seven statements."""

    def collect(self) -> Iterator[Metric]:
        jobs = _gauge("assay_jobs", "Jobs by queue and status.", "queue", "status")
        waiting = _gauge(
            "assay_job_wait_seconds", "Wait of the oldest job that is due.", "queue"
        )
        for queue, todo, doing, failed, oldest in rows.fetch_rows(_JOBS):
            jobs.add_metric([queue, "todo"], todo)
            jobs.add_metric([queue, "doing"], doing)
            jobs.add_metric([queue, "failed"], failed)
            waiting.add_metric([queue], oldest)
        yield from (jobs, waiting)

        with across_tenants(why="the server's health is that of every team"):
            ((due, oldest),) = rows.fetch_rows(_DELIVERIES)
        yield _gauge("assay_deliveries_due", "Webhooks that are due.", value=due)
        yield _gauge(
            "assay_delivery_wait_seconds", "Wait of the oldest of them.", value=oldest
        )

        ((disabled, failing),) = rows.fetch_rows(_ENDPOINTS)
        endpoints = _gauge("assay_endpoints", "Endpoints that are not well.", "state")
        endpoints.add_metric(["disabled"], disabled)
        endpoints.add_metric(["failing"], failing)
        yield endpoints

        yield from _lab_metrics()

        ((workers, deliverers),) = rows.fetch_rows(
            _PROCESSES,
            {"timeout": HEARTBEAT_TIMEOUT_SECONDS, "deliverer": DELIVERER_NAME},
        )
        yield _gauge("assay_workers", "Workers that reported lately.", value=workers)
        yield _gauge("assay_deliverers", "Deliverers at work.", value=deliverers)

        ((well, refused, failed, times),) = rows.fetch_rows(
            _CALLS, {"quantiles": list(QUANTILES), "window": WINDOW_S}
        )
        calls = _gauge(
            "assay_api_calls", f"API calls of the last {WINDOW_S} s.", "answer"
        )
        for answer, number in (("2xx", well), ("4xx", refused), ("5xx", failed)):
            calls.add_metric([answer], number)
        taken = _gauge(
            "assay_api_call_seconds", f"Time of calls, last {WINDOW_S} s.", "quantile"
        )
        for quantile, ms in zip(QUANTILES, times or (), strict=False):
            taken.add_metric([str(quantile)], ms / 1000)
        yield from (calls, taken)


def _lab_metrics() -> Iterator[Metric]:
    """Return the state of connections to labs, by transport."""
    now = timezone.now()
    found = _gauge(
        "assay_lab_connections", "Connections to labs.", "transport", "state"
    )
    waiting = _gauge("assay_lab_messages", "Messages that wait for labs.", "transport")
    oldest = _gauge(
        "assay_lab_message_wait_seconds", "Wait of the oldest of them.", "transport"
    )
    last = _gauge(
        "assay_lab_last_message_seconds",
        "Time since the last message.",
        "transport",
        "direction",
    )
    for state in list_transport_states():
        name = state.transport
        for what, number in (
            ("all", state.connections),
            ("silent", state.silent),
            ("failing", state.failing),
        ):
            found.add_metric([name, what], number)
        since = state.queue.since
        waiting.add_metric([name], state.queue.waiting)
        oldest.add_metric([name], (now - since).total_seconds() if since else 0)
        for direction, at in (
            ("received", state.last_received_at),
            ("sent", state.last_sent_at),
        ):
            if at is not None:
                last.add_metric([name, direction], (now - at).total_seconds())
    yield from (found, waiting, oldest, last)


@never_cache
@require_safe
def show_prometheus_metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics in the Prometheus text format, for holders of METRICS_TOKEN.

    Anybody else finds nothing here (404).
    """
    token = settings.METRICS_TOKEN
    authorization = request.headers.get("Authorization", "")
    if not token or not hmac.compare_digest(
        authorization.encode(), f"Bearer {token}".encode()
    ):
        raise Http404
    registry = CollectorRegistry()
    registry.register(_Collector())
    return HttpResponse(
        generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4
    )


def _gauge(
    name: str, says: str, *labels: str, value: float | None = None
) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, says, value=value, labels=labels or None)
