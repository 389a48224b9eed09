"""A graph of ONNX under construction, whose values combine like arrays.

    >>> graph = Graph()
    >>> x = graph.input("x", "number", [None, 2])
    >>> y = (x - 1.0) * np.array([2.0, 3.0])
    >>> [node.op_type for node in graph.nodes]
    ['Sub', 'Mul']

Numbers are float64, whole numbers int64, and masks booleans, whatever the types of inputs and outputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from suffice.exceptions import InputError
from suffice.numerics.types import Array

__all__ = ["DTYPE", "ELEMENT", "Graph", "Kind", "Operand", "Output", "Value"]

Kind = Literal["number", "single", "whole", "mask", "text"]
Operand: TypeAlias = "Value | Array | float"
MOST_BYTES = 2_000_000_000  # of a file in the format of Protocol Buffers

ELEMENT: dict[Kind, int] = {
    "number": TensorProto.DOUBLE,
    "single": TensorProto.FLOAT,
    "whole": TensorProto.INT64,
    "mask": TensorProto.BOOL,
    "text": TensorProto.STRING,
}
DTYPE: dict[Kind, Any] = {
    "number": np.float64,
    "single": np.float32,
    "whole": np.int64,
    "mask": np.bool_,
    "text": np.object_,
}


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of a graph: an input, a constant, or the result of an operator."""

    graph: Graph
    name: str
    kind: Kind

    __array_ufunc__ = None  # an array on the left leaves the operation to the value

    def _with(self, operator: str, other: Operand, *, swapped: bool = False, kind: Kind | None = None) -> Value:
        pair = (other, self) if swapped else (self, other)
        return self.graph.op(operator, *(self.graph.constant(each, self.kind) for each in pair), kind=kind or self.kind)

    def __add__(self, other: Operand) -> Value:
        return self._with("Add", other)

    def __radd__(self, other: Operand) -> Value:
        return self._with("Add", other, swapped=True)

    def __sub__(self, other: Operand) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._with("Sub", other, swapped=True)

    def __mul__(self, other: Operand) -> Value:
        return self._with("Mul", other)

    def __rmul__(self, other: Operand) -> Value:
        return self._with("Mul", other, swapped=True)

    def __truediv__(self, other: Operand) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._with("Div", other, swapped=True)

    def __matmul__(self, other: Operand) -> Value:
        return self._with("MatMul", other)

    def __rmatmul__(self, other: Operand) -> Value:
        return self._with("MatMul", other, swapped=True)

    def __neg__(self) -> Value:
        return self.graph.op("Neg", self, kind=self.kind)

    def __lt__(self, other: Operand) -> Value:  # type: ignore[misc]  # as for arrays
        return self._with("Less", other, kind="mask")

    def __le__(self, other: Operand) -> Value:  # type: ignore[misc]  # as for arrays
        return self._with("LessOrEqual", other, kind="mask")

    def __gt__(self, other: Operand) -> Value:  # type: ignore[misc]  # as for arrays
        return self._with("Greater", other, kind="mask")

    def __ge__(self, other: Operand) -> Value:  # type: ignore[misc]  # as for arrays
        return self._with("GreaterOrEqual", other, kind="mask")

    def equals(self, other: Operand) -> Value:
        """Where two values are equal, as a mask."""
        return self._with("Equal", other, kind="mask")

    def __and__(self, other: Operand) -> Value:
        return self._with("And", other)

    def __or__(self, other: Operand) -> Value:
        return self._with("Or", other)

    def __invert__(self) -> Value:
        return self.graph.op("Not", self, kind="mask")


class Output(NamedTuple):
    """A value that a graph returns, with its name, shape and description; None is the number of rows."""

    name: str
    value: Value
    shape: Sequence[int | None]
    about: str


@dataclass(eq=False)
class Graph:
    """Nodes, constants and inputs of a graph.

    Attributes
    ----------
    nodes : list of NodeProto
        Of the graph, or of the body of a loop that is being built.
    """

    inputs: list[ValueInfoProto] = field(default_factory=list)
    nodes: list[NodeProto] = field(default_factory=list)
    _initializers: list[TensorProto] = field(default_factory=list)
    _constants: dict[tuple[Kind, tuple[int, ...], bytes], Value] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _count: int = 0
    _n_bytes: int = 0

    # ------------------------------------------------------------------ names and inputs

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names of inputs and outputs from being used for other values."""
        self._taken.update(names)

    def _new_name(self) -> str:
        while True:
            self._count += 1
            name = f"v{self._count}"
            if name not in self._taken:
                return name

    def input(self, name: str, kind: Kind, shape: Sequence[int | None], about: str = "") -> Value:
        """Add an input; None is a number of rows or words that varies."""
        self.reserve([name])
        self.inputs.append(helper.make_tensor_value_info(name, ELEMENT[kind], list(shape), about))
        return Value(self, name, kind)

    # ------------------------------------------------------------------ values

    def constant(self, values: Operand, kind: Kind) -> Value:
        """An array as a value of the graph; equal arrays are stored once, and a value is returned as it is."""
        if isinstance(values, Value):
            return values
        array = np.ascontiguousarray(np.asarray(values, dtype=DTYPE[kind])).reshape(np.shape(values))
        key = kind, array.shape, b"" if kind == "text" else hashlib.sha256(array.data).digest()
        found = None if kind == "text" else self._constants.get(key)
        if found is None:
            self._grow(array.nbytes)
            found = Value(self, self._new_name(), kind)
            self._constants[key] = found
            self._initializers.append(numpy_helper.from_array(array, found.name))
        return found

    def _grow(self, n_bytes: int) -> None:
        """Count the bytes of the graph, and raise `InputError` before they are more than a file can have."""
        self._n_bytes += n_bytes
        if self._n_bytes > MOST_BYTES:
            raise InputError(
                "The graph would have more than 2 GB, which a file of ONNX cannot have. Fit the model with fewer "
                "columns, levels or words."
            )

    def op(self, operator: str, *inputs: Value, kind: Kind, domain: str = "", **attributes: Any) -> Value:
        """Add a node with one output."""
        return self.several(operator, *inputs, kinds=[kind], domain=domain, **attributes)[0]

    def several(
        self, operator: str, *inputs: Value, kinds: Sequence[Kind], domain: str = "", **attributes: Any
    ) -> list[Value]:
        """Add a node with several outputs."""
        outputs = [Value(self, self._new_name(), kind) for kind in kinds]
        names = [each.name for each in outputs]
        node = helper.make_node(operator, [each.name for each in inputs], names, domain=domain, **attributes)
        self._grow(node.ByteSize())
        self.nodes.append(node)
        return outputs

    def loop(
        self, trips: Value, state: Sequence[Value], body: Callable[[Value, Sequence[Value]], Sequence[Value]]
    ) -> list[Value]:
        """Add a loop: ``body`` takes the number of the trip, from 0, and the state, and returns the next state."""
        number, goes_on = Value(self, self._new_name(), "whole"), Value(self, self._new_name(), "mask")
        before = [Value(self, self._new_name(), each.kind) for each in state]
        with self._inner() as nodes:
            after = body(number, before)
            done = self.op("Identity", goes_on, kind="mask")
            results = [self.op("Identity", each, kind=each.kind) for each in after]
        inside = helper.make_graph(
            nodes,
            self._new_name(),
            [_info(number, []), _info(goes_on, []), *map(_info, before)],
            [_info(done, []), *map(_info, results)],
        )
        always = self.constant(np.array(True), "mask")
        return self.several("Loop", trips, always, *state, kinds=[each.kind for each in state], body=inside)

    @contextmanager
    def _inner(self) -> Iterator[list[NodeProto]]:
        """Collect the nodes of the body of a loop, which may use all values of the graph."""
        outer, self.nodes = self.nodes, []
        try:
            yield self.nodes
        finally:
            self.nodes = outer

    # ------------------------------------------------------------------ result

    def finished(self, name: str, about: str, outputs: Sequence[Output]) -> GraphProto:
        """The graph, with a name and a description."""
        for each in outputs:
            self.nodes.append(helper.make_node("Identity", [each.value.name], [each.name]))
        described = [
            helper.make_tensor_value_info(each.name, ELEMENT[each.value.kind], list(each.shape), each.about)
            for each in outputs
        ]
        return helper.make_graph(self.nodes, name, self.inputs, described, self._initializers, about)


def _info(value: Value, shape: Sequence[int] | None = None) -> ValueInfoProto:
    return helper.make_tensor_value_info(value.name, ELEMENT[value.kind], shape)
