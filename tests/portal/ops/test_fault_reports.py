from __future__ import annotations

import logging

import sentry_sdk
from sentry_sdk.transport import Transport

from portal.lib.web import request_ids
from portal.ops.fault_reports import (
    build_error_reporting_options,
    remove_health_data_from_error_report,
)

NAME = "Ada Lovelace"


class Kept(Transport):
    """Sends nothing; keeps what would be sent."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.sent = []

    def capture_envelope(self, envelope):
        self.sent += [item.payload.get_bytes().decode() for item in envelope.items]


def test_a_report_tells_what_and_where_and_nothing_of_a_person():
    client = sentry_sdk.Client(
        dsn="https://key@faults.example/1",
        transport=Kept,
        default_integrations=False,
        **build_error_reporting_options(),
    )
    token = request_ids._current.set("c0ffee")
    with sentry_sdk.new_scope() as scope:
        scope.set_client(client)
        scope.set_extra("user", NAME)
        scope.set_user({"id": NAME})
        scope.add_breadcrumb(message=NAME)
        try:
            {}[NAME]
        except KeyError as error:
            scope.capture_exception(error)
    request_ids._current.reset(token)

    (report,) = client.transport.sent
    assert NAME not in report
    assert "KeyError" in report
    assert "test_fault_reports.py" in report
    assert '"request_id":"c0ffee"' in report.replace(" ", "")


def test_of_a_request_the_address_alone_is_told():
    event = {
        "level": logging.getLevelName(logging.ERROR),
        "request": {
            "method": "POST",
            "url": f"https://assay.example/v2/user?name={NAME}",
            "query_string": NAME,
            "data": {"name": NAME},
            "headers": {"x-service-api-key": "sk_1"},
            "cookies": {"sessionid": "1"},
        },
        "user": {"ip_address": "192.0.2.1"},
        "modules": {},
    }

    assert remove_health_data_from_error_report(event, {}) == {
        "level": "ERROR",
        "request": {"method": "POST", "url": "https://assay.example/v2/user"},
    }
