"""Phones: published senders end to end, and a month of many phones at once.

Run `python -m tests.bench.users.phones OPEN_WEARABLES [SAMPLES ...] [--phones N]
[--days D] [--rate R]`. OPEN_WEARABLES is a checkout of the Open Wearables server: its
own models (SyncRequest, with its enumerations of types, stages and workouts) write the
batches, and the payloads of its own tests are sent too. SAMPLES are checkouts of
receivers of Health Auto Export: each JSON text in them that has `data` is sent.

First: batches go in once and in order for one user, doubled and shuffled for another.
Prints samples expected, lost and doubled, and whether both users hold the same; must: 0
lost, 0 doubled, the same. Then N phones send D days at once through a server and a
worker of their own, while another user is read R times a second. Prints the time until
all is stored and the median and p99 of those reads, before and meanwhile.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.stage import database, served

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(2026, 3, 1, tzinfo=UTC)
BATCH = 2000
_LISTS = {"records", "sleep", "workouts"}
_JSON_STARTS = re.compile(r'\{\s*"data"\s*:')


class _AnyName(type):
    def __getattr__(cls, name: str) -> str:
        return name


def load_published_models(checkout: Path) -> types.ModuleType:
    """Import the models of the published server, without its database and web parts.

    Only enumerations of its own series are stood in for; they name no record.
    """
    root = checkout / "backend" / "app"
    for name in ("app", "app.constants", "app.schemas", "app.schemas.providers"):
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    enums = types.ModuleType("app.schemas.enums")
    for name in ("SeriesType", "WorkoutType"):
        setattr(enums, name, _AnyName(name, (), {}))
    sys.modules["app.schemas.enums"] = enums
    workouts = types.ModuleType("app.constants.workout_types")
    workouts.__path__ = [str(root / "constants" / "workout_types")]
    sys.modules["app.constants.workout_types"] = workouts
    from importlib import import_module

    apple = import_module("app.constants.workout_types.apple_sdk")
    workouts.SDKWorkoutType = apple.SDKWorkoutType
    return import_module("app.schemas.providers.mobile_sdk.sync_request")


def write_month(models: Any, days: int, seed: int) -> Iterator[bytes]:
    """Yield batches of a month as the published models write them."""
    chance = random.Random(seed)  # noqa: S311 - made-up values
    sources = {
        "watch": models.SourceInfo(
            app_id="com.apple.health",
            device_manufacturer="Apple Inc.",
            device_model="Watch7,5",
            device_type=models.DeviceType.WATCH,
        ),
        "phone": models.SourceInfo(
            app_id="com.apple.health",
            device_manufacturer="Apple Inc.",
            device_model="iPhone16,1",
            device_type=models.DeviceType.PHONE,
        ),
    }
    metrics = models.SDKMetricType
    records, stages, workouts = [], [], []
    # The last day is the same, as no record may lie ahead.
    first_day = START - timedelta(days=max(0, days - 30))
    for day in range(days):
        midnight = first_day + timedelta(days=day)
        for minute in range(0, 1440, 2):
            at = midnight + timedelta(minutes=minute)
            records.append(
                models.MetricRecord(
                    id=f"hr-{day}-{minute}",
                    type=metrics.APPLE_HEART_RATE,
                    startDate=at,
                    endDate=at,
                    source=sources["watch"],
                    value=chance.randint(48, 150),
                    unit="bpm",
                )
            )
        for minute in range(420, 1320, 10):
            at = midnight + timedelta(minutes=minute)
            for kind, type_, unit in (
                ("watch", metrics.APPLE_STEP_COUNT, "count"),
                ("phone", metrics.APPLE_STEP_COUNT, "count"),
                ("watch", metrics.DISTANCE_WALKING_RUNNING, "m"),
                ("watch", metrics.APPLE_ACTIVE_ENERGY_BURNED, "Cal"),
            ):
                records.append(
                    models.MetricRecord(
                        id=f"{type_}-{kind}-{day}-{minute}",
                        type=type_,
                        startDate=at,
                        endDate=at + timedelta(minutes=10),
                        source=sources[kind],
                        value=chance.randint(1, 900),
                        unit=unit,
                    )
                )
        records += [
            models.MetricRecord(
                id=f"{type_}-{day}",
                type=type_,
                startDate=midnight + timedelta(minutes=421),
                endDate=midnight + timedelta(minutes=421),
                source=sources["watch"],
                value=1,
                unit="count",
            )
            for type_ in metrics
        ]
        asleep = midnight + timedelta(hours=22)
        for number, phase in enumerate(list(models.SleepPhase) * 4):
            start = asleep + timedelta(minutes=15 * number)
            stages.append(
                models.SleepRecord(
                    id=f"s-{day}-{number}",
                    stage=phase,
                    startDate=start,
                    endDate=start + timedelta(minutes=15),
                    source=sources["watch"],
                )
            )
        kinds = list(models.SDKWorkoutType)
        workouts.append(
            models.Workout(
                id=f"w-{day}",
                type=kinds[day % len(kinds)],
                startDate=midnight + timedelta(hours=17),
                endDate=midnight + timedelta(hours=18),
                source=sources["watch"],
                values=[
                    models.WorkoutStatistic(type="distance", unit="m", value=5000),
                    models.WorkoutStatistic(type="duration", unit="s", value=3600),
                ],
            )
        )
    for name, found in (
        ("records", records),
        ("sleep", stages),
        ("workouts", workouts),
    ):
        for first in range(0, len(found), BATCH):
            data = models.SyncRequestData(**{name: found[first : first + BATCH]})
            request = models.SyncRequest(
                provider="apple", sdkVersion="0.9.0", syncTimestamp=START, data=data
            )
            yield request.model_dump_json(by_alias=True).encode()


def read_test_payloads(checkout: Path, models: Any) -> list[bytes]:
    """Return the payloads that the published server's own tests send."""
    found = []
    for path in sorted((checkout / "backend" / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Dict):
                continue
            try:
                value = ast.literal_eval(node)
            except (ValueError, TypeError, SyntaxError):
                continue
            lists = {key: each for key, each in value.items() if key in _LISTS}
            if lists and all(isinstance(each, list) for each in lists.values()):
                body = {
                    "provider": "apple",
                    "sdkVersion": "1.0.0",
                    "syncTimestamp": START.isoformat(),
                    "data": lists,
                }
                try:
                    models.SyncRequest.model_validate(body)
                except ValueError:
                    continue
                found.append(json.dumps(body).encode())
    return found


def read_sample_texts(checkout: Path) -> list[bytes]:
    """Return each JSON text with `data` in a checkout's files."""
    found = []
    decoder = json.JSONDecoder()
    for path in sorted(checkout.rglob("*")):
        if path.suffix not in {".go", ".md", ".ts", ".py", ".json", ".js"}:
            continue
        text = path.read_text(errors="replace")
        for start in _JSON_STARTS.finditer(text):
            try:
                value, _end = decoder.raw_decode(text, start.start())
            except ValueError:
                continue
            if isinstance(value.get("data"), dict):
                found.append(json.dumps(value).encode())
    return found


def expected_samples(bodies: list[bytes]) -> int:
    """Count the distinct samples that batches hold, by our own names of their types.

    A sample is one of a series, kind of device and second, or a blood pressure of two
    halves; values of days are none.
    """
    from users.wearables.formats.apple.types import MEASURES, QUANTITY
    from users.wearables.phones.types import ANDROID

    keys = set()
    halves: dict[Any, set[str]] = {}
    for body in bodies:
        for record in json.loads(body)["data"].get("records") or ():
            type_ = str(record.get("type"))
            source = record.get("source") or {}
            if "iastolic" in type_ or "ystolic" in type_:
                half = type_.rpartition("ressure")[2]
                place = (record["startDate"], source.get("deviceType"))
                halves.setdefault(place, set()).add(half)
            measure = MEASURES.get(type_.removeprefix(QUANTITY)) or ANDROID.get(type_)
            if measure is not None:
                at = datetime.fromisoformat(record["startDate"]).timestamp()
                keys.add((measure.slug, source.get("deviceType") or "unknown", at))
    return len(keys) + sum(len(each) == 2 for each in halves.values())


def send_all(user: Any, bodies: list[bytes]) -> Any:
    """Send batches as a phone of a user, and store them; return what was counted."""
    from tests.factories.phones import make_phone, send, store_all
    from users.models import PhoneUpload

    _phone, tokens = make_phone(user)
    path = f"/api/v1/sdk/users/{user.uuid}/sync"
    for body in bodies:
        assert send(path, body, tokens.access).status_code == 202
        store_all(user)
    return list(PhoneUpload.objects.for_tenant(user.tenant).filter(user=user))


def held(user: Any) -> tuple[list[Any], list[Any]]:
    """Return a user's samples and summaries, without keys and times of arrival."""
    from users.models import Sample, Summary

    samples = Sample.objects.filter(user_id=user.pk).order_by("series", "feed", "ts")
    summaries = Summary.objects.for_tenant(user.tenant).filter(user=user)
    return (
        list(samples.values_list("series", "feed", "ts", "value", "duration")),
        sorted(
            # The ID of a cycle's sleep is of the user.
            (
                *(each.kind, str(each.starts_at), str(each.ends_at)),
                json.dumps({**each.body, "sleep_id": None}),
            )
            for each in summaries
        ),
    )


def drive_published(models: Any, checkout: Path, days: int) -> int:
    """Send the published models' and tests' batches, once and doubled."""
    from tests.factories.accounts import make_tenant
    from tests.factories.users import make_user

    tenant = make_tenant()
    of_tests = read_test_payloads(checkout, models)
    bodies = [*write_month(models, days, seed=1), *of_tests]
    first, second = make_user(tenant=tenant), make_user(tenant=tenant)
    uploads = send_all(first, bodies)
    twice = bodies * 2
    random.Random(2).shuffle(twice)  # noqa: S311 - an order
    send_all(second, twice)
    samples, summaries = held(first)
    again, summaries_again = held(second)
    refused = sum(each.refused for each in uploads)
    reasons: dict[str, int] = {}
    for each in uploads:
        for one in each.refusals:
            key = f"{one['reason']} {one['type']}"
            reasons[key] = reasons.get(key, 0) + 1
    expected = expected_samples(bodies)
    lost = max(0, expected - len(samples))
    doubled = max(0, len(samples) - expected)
    print(f"batches {len(bodies)}, {len(of_tests)} of them of published tests")
    print(f"records {sum(each.records for each in uploads)}, refused {refused}")
    print(f"unknown types {len({t for u in uploads for t in u.unknown})}")
    print(f"samples expected {expected}, lost {lost}, doubled {doubled}")
    print(f"summaries {len(summaries)}")
    print(f"refusals {reasons}")
    for one, two in ((summaries, summaries_again), (samples, again)):
        for each in [x for x in one if x not in two][:5]:
            print("  only in order:", each)
        for each in [x for x in two if x not in one][:5]:
            print("  only shuffled:", each)
    same = samples == again and summaries == summaries_again
    print(f"doubled and shuffled: samples {len(again)}, the same: {same}")
    return 0 if same and not lost and not doubled else 1


def drive_samples(checkouts: list[Path]) -> None:
    """Send what public receivers of Health Auto Export hold, twice."""
    from tests.factories.accounts import make_tenant
    from tests.factories.phones import make_phone, send, store_all
    from tests.factories.users import make_user
    from users.models import PhoneUpload
    from users.states.phones import PhoneApp

    user = make_user(tenant=make_tenant())
    _phone, tokens = make_phone(user, PhoneApp.HEALTH_AUTO_EXPORT)
    bodies = [each for path in checkouts for each in read_sample_texts(path)]
    for _twice in range(2):
        for body in bodies:
            reply = send("/phone/health-auto-export", body, tokens.access)
            assert reply.status_code == 202, reply.content
            store_all(user)
        print(
            f"Health Auto Export: {len(bodies)} texts, {[len(x) for x in held(user)]}"
        )
    for each in PhoneUpload.objects.for_tenant(user.tenant).filter(user=user):
        print(f"  {each.records} records, {each.counts}, {each.refusals}")


def post(port: int, path: str, body: bytes, token: str) -> int:
    """POST a packed batch as a phone does; again while it is asked to wait."""
    while True:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        }
        connection.request("POST", path, gzip.compress(body, 1), headers)
        reply = connection.getresponse()
        reply.read()
        connection.close()
        if reply.status != 503:
            return reply.status
        time.sleep(1)


def backlog(models: Any, url: str, *, phones: int, days: int, rate: float) -> None:
    """Send a month from many phones at once, and time the reads of another user."""
    from accounts.operations.api_keys.api_keys import create_api_key
    from accounts.states import Environment
    from tests.factories.accounts import ACTOR, make_tenant
    from tests.factories.phones import make_phone
    from tests.factories.users import make_user
    from users.models import PhoneUpload, Sample
    from users.states.phones import UploadOutcome

    # A sandbox has fewer users.
    tenant = make_tenant(environment=Environment.PRODUCTION)
    _key, secret = create_api_key(tenant=tenant, actor=ACTOR, label="bench")
    other = make_user(tenant=tenant)
    bodies = list(write_month(models, days, seed=3))
    senders = []
    for _each in range(phones):
        user = make_user(tenant=tenant)
        senders.append((user, make_phone(user)[1].access))
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "SECRET_KEY": "only-for-a-bench",
        "DEBUG": "false",
        "STATICFILES_COLLECTED": "false",
        "LOG_LEVEL": "ERROR",
    }
    worker = subprocess.Popen([sys.executable, "manage.py", "worker"], env=environment)
    times: list[float] = []
    stop = threading.Event()

    def read(port: int) -> None:
        path = f"/v2/user/{other.uuid}"
        while not stop.is_set():
            begun = time.perf_counter()
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path, headers={"x-service-api-key": secret})
            reply = connection.getresponse()
            reply.read()
            connection.close()
            assert reply.status == 200, reply.status
            times.append((time.perf_counter() - begun) * 1000)
            time.sleep(max(0, 1 / rate - (time.perf_counter() - begun)))

    def tell(what: str) -> None:
        found = sorted(times)
        p99 = found[min(len(found) - 1, int(len(found) * 0.99))]
        median = statistics.median(found)
        print(f"{what}: {len(found)} reads, median {median:.1f} ms, p99 {p99:.1f} ms")
        times.clear()

    def send_month(sender: tuple[Any, str]) -> None:
        user, token = sender
        path = f"/api/v1/sdk/users/{user.uuid}/sync"
        for body in bodies:
            status = post(port, path, body, token)
            assert status == 202, status

    try:
        with served(url) as server:
            port = server.port
            reader = threading.Thread(target=read, args=(port,))
            reader.start()
            time.sleep(10)
            tell("before")
            begun = time.perf_counter()
            with ThreadPoolExecutor(phones) as pool:
                list(pool.map(send_month, senders))
            accepted = time.perf_counter() - begun
            tell("while phones send")
            mine = PhoneUpload.objects.for_tenant(tenant)
            while mine.filter(outcome=UploadOutcome.WAITING).exists():
                time.sleep(0.5)
            stored = time.perf_counter() - begun
            if times:
                tell("while the rest is stored")
            stop.set()
            reader.join()
    finally:
        stop.set()
        worker.terminate()
        worker.wait(30)
    records = sum(mine.values_list("records", flat=True))
    kept = Sample.objects.filter(user_id__in=[user.pk for user, _ in senders]).count()
    each = Sample.objects.filter(user_id=senders[0][0].pk).count()
    print(
        f"{phones} phones, {days} days, {len(bodies)} batches each, {records} records"
    )
    print(f"accepted in {accepted:.1f} s, stored in {stored:.1f} s")
    print(f"samples {kept}: {each} of each phone, the same: {kept == each * phones}")
    print(f"{records / stored:.0f} records a second")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("open_wearables", type=Path)
    parser.add_argument("samples", type=Path, nargs="*")
    parser.add_argument("--phones", type=int, default=50)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--rate", type=float, default=10)
    given = parser.parse_args()
    models = load_published_models(given.open_wearables)
    with database() as url:
        from django.conf import settings

        from users.api.phones import calls

        settings.ALLOWED_HOSTS = ["*"]
        # Here one address sends for all, as fast as it is answered.
        calls.CALLS_A_MINUTE = 10**6
        failed = drive_published(models, given.open_wearables, min(given.days, 10))
        drive_samples(given.samples)
        if given.phones:
            backlog(models, url, phones=given.phones, days=given.days, rate=given.rate)
    return failed


if __name__ == "__main__":
    sys.exit(main())
