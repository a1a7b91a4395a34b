"""Python texts that the child process runs in place of the parser."""

from __future__ import annotations

import orjson
from django.conf import settings

from tests.factories.reports import make_parsed


def answer(**changes) -> str:
    """The child's answer of one row, some of its fields changed."""
    plain = orjson.loads(orjson.dumps(make_parsed(), default=list))
    plain["results"][0].update(changes)
    return f"sys.stdout.write({orjson.dumps({'report': plain}).decode()!r})"


def say(text: str) -> str:
    """Answer as the parser's fault, where the log shows it."""
    return f'import json\nprint(json.dumps({{"fault": str({text})}}))'


BOUND = """
import reports.operations.reading.child_program as child_program
child_program.limit_process_memory_and_cpu(os.getppid(), most_seconds=60)
"""


def bound(text: str) -> str:
    """The child under its own bounds."""
    root = str(settings.BASE_DIR)
    return f"sys.path.insert(0, {root!r})\n{BOUND}\n{text}"


def bound_as_asked(text: str) -> str:
    """The child under the bounds that its parent names."""
    return bound(text).replace("=60", "=int(sys.argv[2])")
