"""The kit's command line: `api` checks a sandbox, `webhooks` a receiver."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .checks import Run, run_api_checks
from .http import Api
from .receiver import Receiver, run_receiver_checks
from .results import FAILED, Results, Skipped

KEY_VARIABLE = "CONFORMANCE_KEY"
SECRET_VARIABLE = "CONFORMANCE_SECRET"  # noqa: S105 - the name of a variable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both kinds of checks."""
    parser.add_argument("--base-url", help="check the API at this URL")
    parser.add_argument("--key", help=f"a sandbox API key; better in {KEY_VARIABLE}")
    parser.add_argument("--receiver", metavar="URL", help="check this webhook receiver")
    parser.add_argument(
        "--secret",
        metavar="WHSEC",
        help=f"its signing secret, of a test endpoint; better in {SECRET_VARIABLE}",
    )
    parser.add_argument(
        "--report-url",
        default="",
        metavar="URL",
        help='where the receiver reports: {"processed": {webhook-id: times}}',
    )
    parser.add_argument("--json", metavar="FILE", help="also write the results here")


def run(options: argparse.Namespace, write: Callable[[str], object]) -> int:
    """Run what is asked for; return 0, 1 if a check failed, 2 if nothing can be run."""
    try:
        runs = _run_checks(options)
    except (Skipped, ValueError) as refusal:
        write(str(refusal))
        return 2
    for results in runs.values():
        for line in results.list_lines():
            write(line)
    if options.json:
        payload = {name: each.build_payload() for name, each in runs.items()}
        Path(options.json).write_text(json.dumps(payload, indent=2) + "\n")
    return 1 if any(each.count(FAILED) for each in runs.values()) else 0


def _run_checks(options: argparse.Namespace) -> dict[str, Results]:
    """Return the results by kind. Raises: Skipped; ValueError."""
    key = options.key or os.environ.get(KEY_VARIABLE, "")  # noqa: TID251 - no setting
    secret = options.secret or os.environ.get(SECRET_VARIABLE, "")  # noqa: TID251
    runs: dict[str, Results] = {}
    if not (options.base_url or options.receiver):
        raise Skipped("Give --base-url, --receiver or both.")
    if options.base_url:
        if not key:
            raise Skipped(f"Set {KEY_VARIABLE}, or give --key.")
        runs["api"] = run_api_checks(Run(Api(options.base_url, key)))
    if options.receiver:
        if not secret:
            raise Skipped(f"Set {SECRET_VARIABLE}, or give --secret.")
        receiver = Receiver(options.receiver, secret, options.report_url)
        runs["webhooks"] = run_receiver_checks(receiver)
    return runs


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kit from a shell."""
    parser = argparse.ArgumentParser(prog="assay-conformance", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args(arguments), lambda line: sys.stdout.write(line + "\n"))
