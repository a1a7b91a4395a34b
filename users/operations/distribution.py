"""Spreading samples over machines by user: what must be so before, and the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.store.distribution import (
    DISTRIBUTED_TABLES,
    ask_workers,
    distribute_sample_tables,
    has_citus,
    knows_coordinator,
    list_distributed_tables,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


class NotReadyError(Exception):
    """The database can't be distributed yet; `reasons` are sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def check_readiness(*, roles: Iterable[str]) -> list[str]:
    """Return in sentences what there is, changing nothing.

    `roles` are those that serve, which each worker must know. Raises: NotReadyError.
    """
    if not has_citus():
        raise NotReadyError(["The database has no extension citus."])
    reasons = []
    if not knows_coordinator():
        reasons.append(
            "Citus does not know its coordinator: call citus_set_coordinator_host."
        )
    workers = ask_workers(roles=roles)
    if not workers:
        reasons.append("There is no worker: call citus_add_node.")
    for worker in workers:
        if worker.prepared is None:
            reasons.append(f"The worker {worker.address} can't be reached.")
        elif worker.prepared == 0:
            reasons.append(
                f"The worker {worker.address} allows no prepared transactions: set"
                " max_prepared_transactions to its max_connections."
            )
        if worker.missing_roles:
            missing = ", ".join(worker.missing_roles)
            reasons.append(f"The worker {worker.address} has no role {missing}.")
    if reasons:
        raise NotReadyError(reasons)
    done = list_distributed_tables()
    return [
        f"{len(workers)} workers are ready.",
        *(
            f"{name}: {'distributed' if name in done else 'on the coordinator'}"
            for name in DISTRIBUTED_TABLES
        ),
    ]


def distribute_samples(*, roles: Iterable[str]) -> list[str]:
    """Distribute the tables of samples by user; return in sentences what was done.

    What is distributed already is left alone. Batches wait meanwhile. Raises:
    NotReadyError, nothing was changed.
    """
    check_readiness(roles=roles)
    new = distribute_sample_tables()
    return [f"{name}: now distributed by user" for name in new] or [
        "All tables of samples are distributed already."
    ]
