"""Small changes to Python source, each of which a test should notice.

A mutant is one change at one place of one file: a comparison that includes its bound, `any` for `all`, an index off by
one, a sign. Annotations, docstrings, strings and code that only type checkers read are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {
    "all": "any",
    "any": "all",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "logical_and": "logical_or",
    "logical_or": "logical_and",
    "log1p": "log",
    "expm1": "exp",
}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, its line, the function around it, and what the line becomes."""

    path: Path
    line: int
    function: str
    before: str
    after: str
    place: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} in {self.function}: {self.before}  ->  {self.after}"


def mutants(path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of their places."""
    tree = ast.parse(path.read_text())
    found = []
    for place, (_, node, function, change) in enumerate(_changes(tree)):
        changed = change(copy.deepcopy(node))
        found.append(Mutant(path, node.lineno, function, _words(node), _words(changed), place))
    return found


def mutated(mutant: Mutant) -> ast.Module:
    """The file's syntax tree with the change."""
    tree = ast.parse(mutant.path.read_text())
    replace, node, _, change = list(_changes(tree))[mutant.place]
    replace(ast.copy_location(change(node), node))
    return ast.fix_missing_locations(tree)


def _words(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 90 else text[:87] + "..."


def _changes(tree: ast.Module) -> Iterator[tuple]:
    """(how to replace the node, the node, the function's name, the change) at each place of a tree."""
    yield from _within(tree, "the module")


def _within(parent: ast.AST, function: str) -> Iterator[tuple]:
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "type_params") or _is_skipped(parent, field, value):
            continue
        if isinstance(value, list):
            for index, node in enumerate(value):
                if isinstance(node, ast.AST):
                    yield from _at(node, function, lambda new, value=value, index=index: value.__setitem__(index, new))
        elif isinstance(value, ast.AST):
            yield from _at(value, function, lambda new, parent=parent, field=field: setattr(parent, field, new))


def _at(node: ast.AST, function: str, replace) -> Iterator[tuple]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = node.name
    elif isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)) or _only_types(node):
        return
    for change in _changes_of(node):
        yield replace, node, function, change
    yield from _within(node, function)


def _is_skipped(parent: ast.AST, field: str, value: object) -> bool:
    """Text of errors and the declarations of names."""
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and field == "value":
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(isinstance(each, ast.Name) and each.id == "__all__" for each in targets)
    return isinstance(parent, ast.Subscript) and field == "slice" and isinstance(value, ast.Name)


def _only_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _changes_of(node: ast.AST) -> list:
    """The changes that a node allows; each returns the new node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        return [_with_operator]
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPPOSITE and not _joins_text_or_types(node):
        return [_with_operator]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        return [lambda unary: unary.operand]
    if isinstance(node, ast.Call):
        return _changes_of_call(node)
    if isinstance(node, ast.Constant) and not isinstance(node.value, (str, bytes)):
        return _changes_of_constant(node)
    if (
        isinstance(node, ast.If)
        and not node.orelse
        and isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue))
    ):
        return [_never]
    return []


def _joins_text_or_types(node: ast.AST) -> bool:
    """Whether `+` joins strings, or `|` types."""
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and (part.value is None or isinstance(part.value, str)))
        or (isinstance(part, ast.Name) and part.id[:1].isupper() and isinstance(node.op, ast.BitOr))
        for part in parts
    )


def _with_operator(node):
    if isinstance(node, ast.Compare):
        node.ops = [OPPOSITE[type(node.ops[0])]()]
    else:
        node.op = OPPOSITE[type(node.op)]()
    return node


def _changes_of_call(node: ast.Call) -> list:
    if isinstance(node.func, ast.Attribute) and node.func.attr in NAMES:
        return [_with_method]
    if isinstance(node.func, ast.Name) and node.func.id in NAMES:
        return [_with_function]
    return []


def _with_method(node):
    node.func.attr = NAMES[node.func.attr]
    return node


def _with_function(node):
    node.func.id = NAMES[node.func.id]
    return node


def _changes_of_constant(node: ast.Constant) -> list:
    if node.value is None or node.value is ...:
        return []
    if isinstance(node.value, bool):
        return [lambda constant: ast.Constant(not constant.value)]
    if isinstance(node.value, int):
        return [lambda constant: ast.Constant(1 - constant.value if constant.value in (0, 1) else constant.value + 1)]
    return [lambda constant: ast.Constant(constant.value * 2 if constant.value else 1.0)]


def _never(node):
    node.test = ast.Constant(False)
    return node
