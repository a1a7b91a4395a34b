"""Make clients from our OpenAPI document with generators of others, and call a demo.

Run `python -m tests.contract.generators [NAME ...]`. openapi-python-client,
openapi-typescript and openapi-generator (Java) each make a client of every operation;
it is compiled as strictly as its language can, and calls the demo. Spectral and Redocly
judge the document by the rules beside this file, warnings included. All are installed
from their registries into a folder that is deleted afterwards. 1 where one fails. What
this machine can't install or run is named with the reason and skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
import httpx

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from tests.contract.clients.matrix import find_reason_line  # noqa: E402 - needs the apps
from tests.contract.demo import running_demo  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
INSTALL_TIMEOUT_S, RUN_TIMEOUT_S = 300, 300
DOCUMENT = "openapi.json"
# The library of its uploads is on Maven's registry alone, and so are the annotations.
JAVA_LEFT_OUT = "multipart/form-data"
JAVA_ANNOTATIONS = ("Generated", "Nonnull", "Nullable")

MYPY = """
[mypy]
strict = true
[mypy-assay_client.client]
ignore_errors = true
"""


class NotInstalled(Exception):
    """A tool can't be installed or is missing, as without a registry or Java."""


class Failed(Exception):
    """A tool refused the document, or its client did not work."""


def make_python_client(folder: Path, address: str, key: str) -> str:
    python = _make_environment(folder, "openapi-python-client==0.29.1", "mypy==2.4.1")
    # Its name for what it does not know: a PDF is bytes.
    settings = {
        "content_type_overrides": {"application/pdf": "application/octet-stream"}
    }
    (folder / "config.json").write_text(json.dumps(settings))
    _run(
        folder,
        *(python.with_name("openapi-python-client"), "generate", "--meta", "none"),
        *("--path", DOCUMENT, "--output-path", "assay_client"),
        *("--config", "config.json", "--fail-on-warning"),
    )
    # Here it is a text, as its modules are there alone.
    smoke = shutil.copy(HERE / "smoke_python.txt", folder / "smoke.py")
    # The class of the connection is not from our document.
    lenient = (
        "[mypy]\nstrict = true\n[mypy-assay_client.client]\nignore_errors = true\n"
    )
    (folder / "mypy.ini").write_text(lenient)
    _run(folder, python, "-m", "mypy", "assay_client", smoke)
    _run(folder, python, smoke, address, key)
    return f"{_count(folder / 'assay_client/api', '*/*.py')} modules of calls"


def make_typescript_client(folder: Path, address: str, key: str) -> str:
    packages = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0")
    _install_node(folder, *packages, "typescript@5.9.3", "@types/node@20")
    tools = folder / "node_modules/.bin"
    _run(folder, tools / "openapi-typescript", DOCUMENT, "-o", "api.d.ts")
    shutil.copy(HERE / "smoke.ts", folder)
    _run(
        folder,
        *(tools / "tsc", "--strict", "--target", "es2022", "--module", "nodenext"),
        *("--types", "node", "smoke.ts"),
    )
    _run(folder, "node", "smoke.js", address, key)
    lines = len((folder / "api.d.ts").read_text().splitlines())
    return f"{lines} lines of types"


def make_java_client(folder: Path, address: str, key: str) -> str:
    for program in ("java", "javac"):
        if shutil.which(program) is None:
            raise NotInstalled(f"{program} is not installed")
    python = _make_environment(folder, "openapi-generator-cli==7.26.0")
    document = json.loads((folder / DOCUMENT).read_text())
    for operations in document["paths"].values():
        for method, operation in list(operations.items()):
            if JAVA_LEFT_OUT in operation.get("requestBody", {}).get("content", {}):
                del operations[method]
    (folder / "java.json").write_text(json.dumps(document))
    _run(
        folder,
        *(python.with_name("openapi-generator-cli"), "generate", "-g", "java"),
        *("-i", "java.json", "-o", "made", "--library", "native"),
        *("--invoker-package", "com.example.assay"),
        *("--api-package", "com.example.assay.api"),
        *("--model-package", "com.example.assay.model"),
        "--additional-properties=openApiNullable=false,useJakartaEe=true",
    )
    source = folder / "made/src/main/java"
    for name in JAVA_ANNOTATIONS:
        file = source / f"jakarta/annotation/{name}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        fields = (
            'String[] value(); String date() default ""; String comments() default "";'
        )
        body = fields if name == "Generated" else ""
        file.write_text(
            f"package jakarta.annotation; public @interface {name} {{{body}}}"
        )
    shutil.copy(HERE / "Smoke.java", source)
    (jar,) = (folder / "venv").rglob("openapi-generator.jar")  # it carries Jackson
    files = folder / "files.txt"
    files.write_text("\n".join(map(str, source.rglob("*.java"))))
    _run(folder, "javac", "-nowarn", "-cp", jar, "-d", "classes", f"@{files}")
    _run(folder, "java", "-cp", f"{jar}:classes", "Smoke", address, key)
    return f"{_count(source, '**/*.java')} classes"


def lint_with_spectral(folder: Path, _address: str, _key: str) -> str:
    _install_node(folder, "@stoplight/spectral-cli@6.16.3")
    _run(
        folder,
        *(folder / "node_modules/.bin/spectral", "lint", DOCUMENT),
        *("--ruleset", HERE / "spectral.yaml", "--fail-severity", "hint"),
    )
    return "no finding"


def lint_with_redocly(folder: Path, _address: str, _key: str) -> str:
    _install_node(folder, "@redocly/cli@2.77.0")
    said = _run(
        folder,
        *(folder / "node_modules/.bin/redocly", "lint", DOCUMENT),
        *("--config", HERE / "redocly.yaml", "--format", "json"),
    )
    totals = json.loads(said[said.index("{") :])["totals"]
    if totals["errors"] or totals["warnings"]:
        raise Failed(said)
    return "no finding"


CHECKS: dict[str, Callable[[Path, str, str], str]] = {
    "spectral": lint_with_spectral,
    "redocly": lint_with_redocly,
    "openapi-python-client": make_python_client,
    "openapi-typescript": make_typescript_client,
    "openapi-generator java": make_java_client,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CHECKS))
    names = parser.parse_args().names or list(CHECKS)
    passed = True
    with running_demo() as (address, key):
        document = httpx.get(f"{address}/api/schema/?format=json", timeout=120)
        document.raise_for_status()
        for name in names:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                (folder / DOCUMENT).write_bytes(document.content)
                try:
                    said = f"ok, {CHECKS[name](folder, address, key)}"
                except NotInstalled as error:
                    said = f"skipped, {error}"
                except Failed as error:
                    said = f"FAILED\n{error}"
                    passed = False
            print(f"{name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201
    return 0 if passed else 1


def _make_environment(folder: Path, *packages: str) -> Path:
    """Return the Python of a new environment with these packages."""
    python = folder / "venv/bin/python"
    _install(sys.executable, "-m", "venv", str(folder / "venv"))
    _install(str(python), "-m", "pip", "install", "-q", *packages)
    return python


def _install_node(folder: Path, *packages: str) -> None:
    (folder / "package.json").write_text('{"type": "module"}')
    _install(
        *("npm", "install", "--loglevel=error", "--no-audit", "--no-fund"),
        *("--ignore-scripts", "--prefix", str(folder), *packages),
    )


def _install(*command: str) -> None:
    try:
        _call(command, INSTALL_TIMEOUT_S)
    except FileNotFoundError as error:
        raise NotInstalled(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"{command[-1]} took too long") from error
    except Failed as error:
        raise NotInstalled(find_reason_line(str(error))) from error


def _run(folder: Path, *command: Any) -> str:
    """Run a command in a folder and return what it says. Raises: Failed."""
    try:
        return _call([str(each) for each in command], RUN_TIMEOUT_S, folder)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{command[0]} took too long") from error


def _call(command: Any, timeout_s: int, folder: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip()
        raise Failed(said[-4000:] or f"exit code {done.returncode}")
    return done.stdout


def _count(folder: Path, pattern: str) -> int:
    return sum(1 for _ in folder.glob(pattern))


if __name__ == "__main__":
    sys.exit(main())
