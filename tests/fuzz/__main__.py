"""Fuzz what reads bytes of strangers, guided by the branches that inputs reach.

Run `python -m tests.fuzz [TARGET ...] [--seconds S] [--seed N] [--keep]`. Each target
runs in a process of its own by libFuzzer (atheris), from the committed inputs in
tests/fuzz/corpus, S seconds each. A fault is an exception that the target does not
name, an input that takes over 10 seconds, or over 1 GB of memory. The input of a fault
is put beside the others as `fault-…`, where the tests read it from then on. With --keep
the inputs that reach new branches are added to the corpus, as few and as small as they
can be; else nothing stays. Prints what ran; 1 where there was a fault.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
TIMEOUT_S = 10
MEMORY_MB = 1024
# Until a process has loaded what it reads with, on a busy machine.
_STARTED_S = 240


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from tests.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []])
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    faulty = [
        name
        for name in given.targets or TARGETS
        if not fuzz(name, seconds=given.seconds, seed=given.seed, keeps=given.keep)
    ]
    print(f"seed {given.seed}: {f'faults in {faulty}' if faulty else 'no fault'}")
    return 1 if faulty else 0


def fuzz(name: str, *, seconds: int, seed: int, keeps: bool) -> bool:
    """Fuzz one target; whether nothing was found."""
    from tests.fuzz.targets import TARGETS

    kept = CORPUS / name
    with tempfile.TemporaryDirectory() as folder:
        found, faults = Path(folder) / "found", Path(folder) / "faults"
        found.mkdir()
        faults.mkdir()
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fuzz.one", name),
                f"-max_total_time={seconds}",
                f"-seed={seed}",
                f"-timeout={TIMEOUT_S}",
                f"-rss_limit_mb={MEMORY_MB}",
                f"-max_len={TARGETS[name].largest}",
                f"-artifact_prefix={faults}/",
                "-print_final_stats=1",
                *(str(found), str(kept)),
            ],
            capture_output=True,
            text=True,
            timeout=seconds + _STARTED_S,
            check=False,
        )
        counts = dict(
            line.removeprefix("stat::").split(":", 1)
            for line in ended.stderr.splitlines()
            if line.startswith("stat::")
        )
        runs = counts.get("number_of_executed_units", "?").strip()
        new = sorted(found.iterdir(), key=lambda each: each.stat().st_size)
        print(f"{name}: {runs} runs, {len(new)} new inputs")
        if keeps:
            for each in new:
                shutil.copy(each, kept / each.name[:16])
        for each in faults.iterdir():
            kind, _dash, digest = each.name.partition("-")
            shutil.copy(each, kept / f"fault-{kind}-{digest[:16]}")
        if ended.returncode:
            print(ended.stdout[-2000:], ended.stderr[-4000:])
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
