"""Run the bench of tests/bench/workers/curves.py."""

from tests.bench.workers.curves import main

main()
