"""Call the demo through the client of openapi-python-client: python smoke.py URL KEY.

Run by the interpreter that has the client's dependencies, from the folder above it.
"""

from __future__ import annotations

import sys
import uuid
from datetime import UTC, datetime, timedelta

from assay_client import AuthenticatedClient
from assay_client.api.lab_tests import list_lab_tests
from assay_client.api.samples import list_grouped_samples
from assay_client.api.users import create_user, delete_user, get_user, list_users
from assay_client.models import (
    GroupedSamples,
    LabTestPage,
    ListGroupedSamplesResource,
    Refusal,
    UserAnswer,
    UserInputsRequest,
    UserList,
)

address, key = sys.argv[1:]
client = AuthenticatedClient(
    base_url=address,
    token=key,
    prefix="",
    auth_header_name="x-service-api-key",
    raise_on_unexpected_status=True,
)
own_id = f"generated-{uuid.uuid4()}"

made = create_user.sync(client=client, body=UserInputsRequest(client_user_id=own_id))
assert isinstance(made, UserAnswer), made
assert (made.client_user_id, made.fallback_time_zone.id) == (own_id, "UTC"), made
assert made.fallback_birth_date is None, made
read = get_user.sync(str(made.user_id), client=client)
assert isinstance(read, UserAnswer), read
assert read.created_on == made.created_on, read
page = list_users.sync(client=client, limit=100)
assert isinstance(page, UserList), page
assert page.total == len(page.users), page
assert made.user_id in {each.user_id for each in page.users}, page
rich = max(page.users, key=lambda each: len(each.connected_sources))
samples = list_grouped_samples.sync(
    str(rich.user_id),
    ListGroupedSamplesResource.HEARTRATE,
    client=client,
    start_date=(datetime.now(UTC) - timedelta(days=2)).isoformat(),
)
assert isinstance(samples, GroupedSamples), samples
tests = list_lab_tests.sync(client=client, lab_test_limit=5)
assert isinstance(tests, LabTestPage), tests
assert 1 <= len(tests.data) <= 5, tests
deleted = delete_user.sync_detailed(str(made.user_id), client=client)
assert deleted.status_code == 200, deleted
gone = get_user.sync(str(made.user_id), client=client)
assert isinstance(gone, Refusal), gone
assert gone.code == "not_found", gone
