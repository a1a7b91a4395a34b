"""README and docs/ say what is so: sizes, links, paths, commands, samples."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

from accounts.states import MATRIX, Role
from portal.docs.references import build_command_parser, list_outdated_references
from reports.states import JOB_MOVES

ROOT = Path(settings.BASE_DIR)
README = (ROOT / "README.md").read_text()
# Copies of binding texts: what they name is not ours to change.
COPIES = {"contract.md", "specification.md"}
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(path for path in (ROOT / "docs").rglob("*.md") if path.name not in COPIES),
    ]
)
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]
TEXTS = dict(zip(NAMES, (path.read_text() for path in PAGES), strict=True))
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
ACCESS = {"–": "none", "write in the sandbox": "write_sandbox"}


def fences(language: str) -> list[tuple[str, str]]:
    """Return (page, code) of each fenced sample in a language."""
    return [
        (name, re.sub(rf"^{indent}", "", code, flags=re.MULTILINE))
        for name, text in TEXTS.items()
        for indent, found, code in FENCE.findall(text)
        if found == language
    ]


def prose(text: str) -> str:
    """Return a page without its fenced samples."""
    return FENCE.sub("", text)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(path.read_text()), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", text).lower()).replace(" ", "-")
        for text in headings
    }


def commands() -> list[tuple[str, str]]:
    """Return (page, rest of the line) of each `manage.py …` in the pages."""
    found = []
    for name, text in TEXTS.items():
        joined = text.replace("\\\n", " ")
        found += [
            (name, rest.strip())
            for rest in re.findall(
                r"(?:manage\.py|rm web|deploy/start) ((?:[a-z][^\n`|#&]*))", joined
            )
        ]
    return found


def test_the_readme_is_short_and_begins_with_two_commands():
    assert len(README.encode()) < 8000
    assert "\n    pip install uv && uv run manage.py demo\n" in README
    assert "\n    pip install uv && uv run pytest\n" in README


def test_the_diagram_of_parsing_jobs_is_that_of_the_code():
    (drawn,) = [code for _, code in fences("mermaid")]
    first, *lines = drawn.rstrip("\n").split("\n")

    assert first == "stateDiagram-v2"
    assert sorted(lines) == diagram_of(JOB_MOVES)


def diagram_of(moves) -> list[str]:
    """Return the lines of a Mermaid state diagram of a table of moves."""
    lines = []
    for status, following in moves:
        lines += [f"    {status.value} --> {new.value}" for new in following]
        if not following:
            lines.append(f"    {status.value} --> [*]")
    return sorted(lines)


@pytest.mark.parametrize("name", NAMES)
def test_every_relative_link_and_anchor_leads_somewhere(name):
    dead = []
    for link, image in LINK.findall(prose(TEXTS[name])):
        target, _, anchor = (link or image).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        path = (ROOT / name).parent / target if target else ROOT / name
        if not path.resolve().exists() or (anchor and anchor not in anchors(path)):
            dead.append(link or image)

    assert dead == []


@pytest.mark.parametrize("name", NAMES)
def test_every_path_named_exists(name):
    folders = "portal|accounts|users|labs|reports|tests|docs|deploy|templates|static"
    named = re.findall(rf"`((?:{folders}|locale)/[^` ]*)`", TEXTS[name])

    # `labs/x.py::name` is a place in a file.
    missing = [path for path in named if not (ROOT / path.partition("::")[0]).exists()]
    assert missing == []


def test_every_module_named_after_python_m_exists():
    named = {
        module
        for text in TEXTS.values()
        for module in re.findall(r"python -m ([\w.]+)", text)
        if not module.startswith(("venv", "pip"))
    }

    places = [ROOT / module.replace(".", "/") for module in named]
    assert len(places) >= 5
    assert [
        place
        for place in places
        if not (place.with_suffix(".py").exists() or (place / "__init__.py").exists())
    ] == []


def test_every_command_named_exists_with_its_options():
    known = get_commands()
    unknown = []
    for page, text in commands():
        # Placeholders of a sentence, and a value that is elided.
        name, _, rest = text.partition(" ")
        if name.rstrip(".,:;") not in known:
            unknown.append((page, text))
            continue
        has = {
            option
            for action in build_command_parser(
                known[name.rstrip(".,:;")], name
            )._actions
            for option in action.option_strings
        }
        options = re.findall(r"(?<!\S)(--[\w-]+)", rest)
        unknown += [(page, name, each) for each in options if each not in has]

    assert unknown == []


def test_whole_command_lines_of_samples_are_parsed():
    known = get_commands()
    parsed = 0
    for _, code in fences("sh"):
        for line in code.replace("\\\n", " ").splitlines():
            if "manage.py" not in line:
                continue
            words = shlex.split(line, comments=True)
            name, *rest = words[words.index("manage.py") + 1 :]
            if "&&" in words or known[name] == "django.core":
                continue
            build_command_parser(known[name], name).parse_args(rest)
            parsed += 1

    assert parsed > 15


def test_every_environment_variable_named_is_in_the_example():
    listed = set(
        re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    )
    # Of compose.yaml, deploy/start, uv, and of the samples themselves.
    others = {"POSTGRES_PASSWORD", "WEB_PASSWORD", "WORK_PASSWORD"}
    others |= {"ASSAY_URL", "ASSAY_KEY", "MANAGEMENT_KEY"}
    # Of one run of a command.
    others |= {"IMPORT_FROM_KEY", "PARITY_KEY", "CONFORMANCE_KEY", "CONFORMANCE_SECRET"}
    others |= {"ORG_ID", "TEAM_ID", "USER_ID", "TEST_ID", "JOB_ID", "ORDER_ID", "KEY"}
    # Of PostgreSQL's machines.
    others |= {"PRIMARY", "STANDBY", "FOLLOWS", "PGDATA", "REPLICATION_PASSWORD"}
    unknown = set()
    for name, text in TEXTS.items():
        set_here = re.findall(r"(?:export |\s)([A-Z][A-Z_]{3,})=", text)
        named = re.findall(r"`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`", text)
        used = re.findall(r"\$\{?([A-Z_]+)", text)
        for each in {*set_here, *named, *used} - listed - others:
            if each not in CONSTANTS:
                unknown.add((name, each))

    assert unknown == set()


# Names in capitals that are no variables.
CONSTANTS = {"DATA_CLASSES", "EVENT_TYPES"}


def test_every_sample_is_well_formed():
    for _, code in fences("json"):
        json.loads(code)
    for page, code in fences("python"):
        ast.parse(code, filename=page)
    assert len(fences("json")) >= 2


def test_the_roles_are_those_of_the_code():
    text = TEXTS["docs/reference/api.md"]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    fields = {
        area: [ACCESS.get(cell, cell) for cell in cells.split(" | ")]
        for area, cells in rows
        if area in MATRIX
    }

    assert fields == {
        area.value: [row[role].value for role in Role] for area, row in MATRIX.items()
    }


def test_the_generated_references_are_current():
    # `uv run manage.py write_docs` writes them.
    assert list(list_outdated_references()) == []


def test_every_page_is_in_the_index():
    index = TEXTS["docs/index.md"]
    pages = {
        str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")
    }

    assert {page for page in pages - {"index.md"} if f"]({page})" not in index} == set()
