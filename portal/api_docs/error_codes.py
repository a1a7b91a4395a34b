"""The codes that the API refuses by, read off the source that raises them.

From the modules of the API every function and class is followed that they name, and
what each of those names; a code counts where an error is made with it. So the page can
tell no code that is gone, and forgets none that is new. Calls of methods are followed
by the class that is named, not by the object.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib import errors
from portal.lib.api.errors import STATUSES
from portal.lib.errors import DomainError, Invalid, TooMany

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = ("portal", "accounts", "users", "labs", "reports", "exchange")
KINDS: dict[str, type[DomainError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, DomainError)
}
_CODE = re.compile(r"[a-z][a-z0-9_]+")
_PLACEHOLDER = re.compile(r"%\(\w+\)\w")
_WITHOUT_CODE = 422  # answered by lines, each with a type
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_REFUSAL = "build_error_response"  # its arguments: status, code, sentence


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code, the statuses it comes with, and the sentences, `…` for what varies."""

    code: str
    statuses: tuple[int, ...]
    sentences: tuple[str, ...]


@dataclass(slots=True)
class _Module:
    """One module: what its names stand for, as `module.name`, and its parts."""

    name: str
    aliases: dict[str, str] = field(default_factory=dict)
    parts: dict[str, ast.AST] = field(default_factory=dict)


@cache
def list_api_error_codes() -> tuple[ErrorCode, ...]:
    """List all error codes of the API by name. Reads the source once."""
    modules = _load_modules()
    return _collect(modules, _reached(modules, _list_api_parts(modules)))


@cache
def list_error_codes_of_view(
    module_name: str, view_name: str, method: str
) -> tuple[ErrorCode, ...]:
    """List the codes that one method of a view, or of the view's maker, can make.

    `method` is in lower case. What the view inherits and calls by name counts too.
    """
    modules = _load_modules()
    module = modules[module_name]
    if module is None or view_name not in module.parts:
        return ()
    others = _METHODS - {method}
    return _collect(modules, _reached(modules, [(module, view_name)], others))


@cache
def _load_modules() -> _Modules:
    return _Modules()


def _collect(
    modules: _Modules, reached: Iterator[tuple[_Module, ast.AST, list[ast.AST]]]
) -> tuple[ErrorCode, ...]:
    statuses: dict[str, set[int]] = {}
    sentences: dict[str, set[str]] = {}
    for module, part, nodes in reached:
        for code, status, sentence in _made(part, nodes, module, modules):
            if status == _WITHOUT_CODE:
                continue
            statuses.setdefault(code, set()).add(status)
            if sentence:
                sentences.setdefault(code, set()).add(sentence)
    return tuple(
        ErrorCode(
            code,
            tuple(sorted(statuses[code])),
            tuple(sorted(sentences.get(code, ()))),
        )
        for code in sorted(statuses)
    )


class _Modules(dict[str, _Module | None]):
    """Our modules by name, each read when it is first asked for; None for no module."""

    def __missing__(self, name: str) -> _Module | None:
        base = settings.BASE_DIR.joinpath(*name.split("."))
        module = None
        if name.partition(".")[0] in PACKAGES:
            for path in (base.with_suffix(".py"), base / "__init__.py"):
                if path.is_file():
                    module = _read(path, name)
        self[name] = module
        return module


def _of_the_api() -> Iterator[str]:
    for package in PACKAGES:
        for path in sorted((settings.BASE_DIR / package).rglob("api/**/*.py")):
            parts = path.relative_to(settings.BASE_DIR).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _read(path: Path, name: str) -> _Module:
    module = _Module(name)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ImportFrom(module=str(source), level=level, names=names):
                if level:
                    above = package.split(".")[: len(package.split(".")) - level + 1]
                    source = ".".join([*above, source])
                for alias in names:
                    module.aliases[alias.asname or alias.name] = (
                        f"{source}.{alias.name}"
                    )
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                module.parts[node.name] = node
            case ast.Assign(targets=[ast.Name(id=target)]):
                module.parts[target] = node
            case ast.AnnAssign(target=ast.Name(id=target)):
                module.parts[target] = node
    return module


def _list_api_parts(modules: _Modules) -> list[tuple[_Module, str]]:
    return [
        (module, part)
        for name in _of_the_api()
        if (module := modules[name]) is not None
        for part in module.parts
    ]


def _reached(
    modules: _Modules,
    waiting: list[tuple[_Module, str]],
    without: frozenset[str] = frozenset(),
) -> Iterator[tuple[_Module, ast.AST, list[ast.AST]]]:
    """Every part that these parts come to, once, and the nodes in it.

    Of classes the functions named in `without` are left out.
    """
    seen = set()
    while waiting:
        module, name = waiting.pop()
        if (module.name, name) in seen:
            continue
        seen.add((module.name, name))
        part = module.parts[name]
        nodes = list(_walk(part, without))
        yield module, part, nodes
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute)):
                found = _find(node, module, modules)
                if found:
                    waiting.append(found)


def _walk(part: ast.AST, without: frozenset[str]) -> Iterator[ast.AST]:
    waiting = [part]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [
            inner
            for inner in ast.iter_child_nodes(node)
            if not (isinstance(inner, ast.FunctionDef) and inner.name in without)
        ]


def _find(
    node: ast.expr, module: _Module, modules: _Modules
) -> tuple[_Module, str] | None:
    """Find the definition of a name or `module.name` in Assay's own modules."""
    match node:
        case ast.Name(id=name):
            if name in module.parts:
                return module, name
            target = module.aliases.get(name, "")
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            target = f"{module.aliases.get(name, '')}.{attribute}"
        case _:
            return None
    source, _, name = target.rpartition(".")
    owner = modules[source] if source else None
    if owner is None:
        return None
    if name in owner.parts:
        return owner, name
    # A package that hands on what one of its modules defines.
    return _find(ast.Name(id=name), owner, modules) if name in owner.aliases else None


def _made(
    part: ast.AST, nodes: list[ast.AST], module: _Module, modules: _Modules
) -> Iterator[tuple[str, int, str]]:
    """The code, status and sentence of each error that is made in this part."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, code, sentence, *_]) if (
                name == _REFUSAL
            ):
                status = node.args[0]
                if isinstance(status, ast.Constant):
                    for text in _codes(code, module, modules):
                        yield text, int(str(status.value)), _sentence(sentence)
            case ast.Call(func=ast.Name(id=name), args=[code, *rest]) if name in KINDS:
                status_of = _status(KINDS[name])
                sentence_text = _sentence(rest[0]) if rest else ""
                if rest and isinstance(table := _unwrap(rest[0]), ast.Subscript):
                    for text, words in _table(table, module, modules):
                        yield text, status_of, words
                for text in _codes(code, module, modules):
                    yield text, status_of, sentence_text
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Name(id="super")), attr=attr
                ),
                args=[code, *rest],
            ) if attr == "__init__" and isinstance(part, ast.ClassDef):
                kind = _kind(part, module, modules)
                if kind:
                    for text in _codes(code, module, modules):
                        yield text, _status(kind), _sentence(rest[0]) if rest else ""


def _kind(
    part: ast.ClassDef, module: _Module, modules: _Modules
) -> type[DomainError] | None:
    for base in part.bases:
        if isinstance(base, ast.Name):
            if base.id in KINDS:
                return KINDS[base.id]
            found = _find(base, module, modules)
            if found and isinstance(inner := found[0].parts[found[1]], ast.ClassDef):
                return _kind(inner, found[0], modules)
    return None


def _status(kind: type[DomainError]) -> int:
    if issubclass(kind, Invalid):
        return _WITHOUT_CODE
    if issubclass(kind, TooMany):
        return 429
    return next((s for base, s in STATUSES.items() if issubclass(kind, base)), 400)


def _codes(node: ast.expr, module: _Module, modules: _Modules) -> Iterator[str]:
    """The codes that an argument can be: a text, one of two, a constant, of an enum."""
    match node:
        case ast.Constant(value=str(text)) if _CODE.fullmatch(text):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from _codes(one, module, modules)
            yield from _codes(other, module, modules)
        case ast.Name():
            found = _find(node, module, modules)
            if found and isinstance(given := found[0].parts[found[1]], ast.Assign):
                yield from _codes(given.value, found[0], modules)
        case ast.Attribute(value=ast.Name() as owner, attr=member):
            found = _find(owner, module, modules)
            source = found[0].parts[found[1]] if found else None
            for line in source.body if isinstance(source, ast.ClassDef) else ():
                match line:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        if name == member:
                            yield from _codes(value, module, modules)


def _table(
    node: ast.Subscript, module: _Module, modules: _Modules
) -> Iterator[tuple[str, str]]:
    """The codes and sentences of a table that a sentence is looked up in."""
    found = _find(node.value, module, modules)
    match found and found[0].parts[found[1]]:
        case ast.Assign(value=ast.Dict(keys=keys, values=values)):
            for key, value in zip(keys, values, strict=True):
                if key is not None:
                    for code in _codes(key, module, modules):
                        yield code, _sentence(value)


def _unwrap(node: ast.expr) -> ast.expr:
    """Return what `str()` is called with, as lazy texts of a table are."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[text]):
            return text
        case _:
            return node


def _sentence(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                str(each.value) if isinstance(each, ast.Constant) else "…"
                for each in values
            )
        case ast.Call(func=ast.Name(id="_" | "gettext_lazy"), args=[text]):
            return _sentence(text)
        case ast.Call(func=ast.Name(id="ngettext"), args=[_one, many, _number]):
            return _sentence(many)
        case ast.BinOp(left=text, op=ast.Mod()):
            return _PLACEHOLDER.sub("…", _sentence(text))
        case _:
            return ""
