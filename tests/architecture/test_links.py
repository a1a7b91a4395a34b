from __future__ import annotations

import ast
import re
from pathlib import Path

from django.conf import settings

from tests.architecture.source import modules

# What says by which host a request came: its sender's choice.
OF_A_REQUEST = frozenset(
    {
        *("build_absolute_uri", "get_host", "get_port", "get_current_site"),
        *("_current_scheme_host", "get_raw_uri", "RequestSite"),
        *("HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "HTTP_X_FORWARDED_HOST"),
    }
)
# Where it may stand, and why.
READERS = {
    "portal/server/application.py": "hands over what a request says of its server",
    "portal/assistants/calls.py": "names the public address in calls of its own",
    "accounts/web/sign_in/step_up.py": "compares a referring page's host,"
    " of which it keeps the path alone",
}
# Markup in which a template would do so.
IN_MARKUP = re.compile(
    r"get_host|get_port|build_absolute_uri|current_site|request\.(META|headers|scheme)"
)


def names_in(tree: ast.Module) -> set[str]:
    """Every name, attribute, import and text of a module."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
                found.add(name)
            case ast.Constant(value=str(text)):
                found.add(text)
    return found


def test_no_code_of_ours_asks_by_which_host_a_request_came():
    asking = {path for path, tree in modules() if OF_A_REQUEST & names_in(tree)}

    assert asking == set(READERS)


def test_no_template_does_either():
    folder = Path(settings.BASE_DIR) / "templates"
    asking = [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*.*"))
        if IN_MARKUP.search(path.read_text())
    ]

    assert asking == []
