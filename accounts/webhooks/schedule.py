"""Compute when a failed delivery is retried, and when retries end. Pure."""

from __future__ import annotations

from datetime import timedelta

# Of failures alone; then an endpoint is disabled (contract 8.5).
DISABLE_AFTER = timedelta(days=5)
# Seconds from a failure to the next attempt; after as many failures more, none follows.
LADDER_S = (5, 300, 1_800, 7_200, 18_000, 36_000, 36_000)
ATTEMPTS_MAX = len(LADDER_S) + 1
# Ours: so that what failed together is not tried together again. Only ever later.
JITTER = 0.1


def compute_retry_wait(
    step: int, *, retry_after_s: float | None = None, chance: float
) -> float | None:
    """Return the seconds to wait after failed attempt number `step`, from 1.

    None when it was the last one. A `Retry-After` counts up to the ladder's next wait;
    `chance`, from 0 to 1, is the jitter's dice. Source: Contract 8.5.
    """
    if step >= ATTEMPTS_MAX:
        return None
    wait = LADDER_S[step - 1] * (1 + JITTER * chance)
    if retry_after_s is None:
        return wait
    return max(wait, min(retry_after_s, _next_rung(step)))


def compute_longest_retry_wait(step: int) -> float:
    """Return the longest wait in seconds after the attempt number `step`; 0 for 0."""
    if step == 0:
        return 0.0
    return max(
        LADDER_S[min(step, ATTEMPTS_MAX - 1) - 1] * (1 + JITTER), _next_rung(step)
    )


def _next_rung(step: int) -> float:
    return float(LADDER_S[min(step, len(LADDER_S) - 1)])
