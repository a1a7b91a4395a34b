"""What a team's clients and members do: users, samples, orders."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from tests.factories.labs import ADDRESS, PATIENT
from users.models import User

if TYPE_CHECKING:
    from tests.simulation.world import Side, World


def create_user(world: World, side: Side) -> None:
    name = f"mbr-{len(side.books.users) + 1}"  # the other team has it too
    reply = world.call(lambda: side.api.post("/v2/user", {"client_user_id": name}))
    # 400 of a name that is taken: the first call was done, its answer lost.
    assert reply.status_code in (200, 400), reply.content
    body = reply.json()
    side.books.users[name] = body.get("detail", body)["user_id"]


def send_samples(world: World, side: Side) -> None:
    """New moments, or other values for some that were sent."""
    user = world.pick(side.live_users())
    if user is None:
        return
    known = side.books.samples.setdefault(user, {})
    first = (timezone.now() - timedelta(days=world.dice.randint(1, 4))).replace(
        minute=0, second=0, microsecond=0
    )
    moments = {
        (first + timedelta(minutes=world.dice.randrange(90))).isoformat()
        for _ in range(world.dice.randint(1, 8))
    }
    if known and world.dice.random() < 0.5:
        moments.add(world.pick(known))
    batch = {at: float(world.dice.randint(40, 180)) for at in sorted(moments)}
    data = [
        {"timestamp": at, "timezone_offset": 0, "value": value}
        for at, value in batch.items()
    ]
    world.dice.shuffle(data)
    body = {"provider": "oura", "source_type": "ring", "data": data}
    path = f"/v2/timeseries/{user}/heartrate"
    reply = world.call(lambda: side.api.post(path, body))
    assert reply.status_code == 200, reply.content
    known |= batch


def place_order(world: World, side: Side) -> None:
    user = world.pick(side.live_users())
    if user is None:
        return
    key = f"order-{len(side.books.orders) + 1}"
    method = world.dice.choice(("walk_in_test", "testkit"))
    panel = dict(zip(("walk_in_test", "testkit"), side.panels, strict=True))[method]
    order = send_order(world, side, key, user, panel)
    if world.dice.random() < 0.5:  # a lab answers it by hand
        side.books.results[order] = []
        goal = f"received.{method}.requisition_created"
        path = f"/v3/order/{order}/test?final_status={goal}"
        world.call(lambda: side.api.post(path))
    side.books.orders[key], side.books.owners[order] = order, user
    if method == "walk_in_test":
        side.books.walk_ins.add(order)


def send_order(world: World, side: Side, key: str, user: str, panel: str) -> str:
    body = {
        "user_id": user,
        "order_set": {"lab_test_ids": [panel]},
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
    }
    headers = {"x-idempotency-key": key}
    reply = world.call(lambda: side.api.post("/v3/order", body, headers=headers))
    assert reply.status_code == 200, reply.content
    return str(reply.json()["order"]["id"])


def open_orders(world: World, side: Side) -> list[str]:
    gone = side.books.deleted
    return [
        order
        for order in side.books.orders.values()
        if side.books.owners[order] not in gone
    ]


def simulate(world: World, side: Side) -> None:
    by_hand = side.books.results
    simulated = [each for each in side.open_orders() if each not in by_hand]
    if order := world.pick(simulated):
        path = f"/v3/order/{order}/test?delay={world.dice.choice((1, 600))}"
        world.call(lambda: side.api.post(path))


def cancel(world: World, side: Side) -> None:
    if order := world.pick(side.open_orders()):
        reply = world.call(lambda: side.api.post(f"/v3/order/{order}/cancel"))
        if reply.status_code == 200:
            side.books.cancelled.add(order)


def cancel_in_browser(world: World, side: Side) -> None:
    if order := world.pick(side.open_orders()):
        team = side.tenant.team.slug
        path = f"/t/{team}/sandbox/orders/{order}/"
        shown = side.web.get(path)
        assert shown.status_code == 200, path
        world.call(lambda: side.web.post(f"{path}cancel/"))


def delete_user(world: World, side: Side) -> None:
    users = side.live_users()
    if len(users) < 2:
        return
    user = world.pick(users)
    row = User.objects.for_tenant(side.tenant).get(uuid=user)
    reply = world.call(lambda: side.api.delete(f"/v2/user/{user}"))
    # 404: the first call was done, its answer lost.
    assert reply.status_code in (200, 404), reply.content
    side.books.deleted[user] = row
    side.books.deletions[user] += 1


def undo_delete(world: World, side: Side) -> None:
    if user := world.pick(side.books.deleted):
        path = f"/v2/user/undo_delete?user_id={user}"
        reply = world.call(lambda: side.api.post(path))
        # Not deleted: the first call was done, its answer lost.
        code = "" if reply.status_code == 200 else reply.json().get("code")
        if code in ("", "user_not_deleted"):
            del side.books.deleted[user]
            side.books.undone[user] += 1
        else:
            assert code in ("undo_grace_over", "not_found"), reply.content
