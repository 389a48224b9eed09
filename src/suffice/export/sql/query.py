"""A query that computes columns step by step.

SQL has no variables: a value that is needed several times is a column of a subquery. A `Query` gathers such columns and
puts each into the first step that knows everything it is computed from. A step keeps the columns that later steps need.

    WITH suffice_1 AS (SELECT … FROM the table), suffice_2 AS (SELECT … FROM suffice_1), … SELECT … FROM suffice_9
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from suffice.exceptions import InputError, counted
from suffice.export.sql.engine import Engine
from suffice.export.sql.expressions import Name, Operand, aliased, balanced, equal, expression_of, less, number, quoted

__all__ = ["PAGE", "Query", "Table"]

PAGE = "docs/export.md"
MOST_JOINS = 8  # of a step
MOST_NODES = 2_000_000  # of the expressions of a statement


@dataclass(frozen=True)
class Table:
    """A table of the statement itself: its name, and its columns, whose names are unique in the statement."""

    name: str
    columns: tuple[Name, ...]

    def __getitem__(self, column: str) -> Name:
        """A column by its name without the number of the table."""
        return next(each for each in self.columns if each.rpartition("_")[0] == column)

    def rows(self) -> exp.Select:
        """A query without columns on this table, for `Query.derive`."""
        return exp.select().from_(self.name)


@dataclass
class _Column:
    """A computed column: its value, None if a joined table has it, and the first and the last step with it."""

    expression: exp.Expression | None
    step: int
    needed: int


@dataclass
class Query:
    """A query under construction.

    Parameters
    ----------
    engine : Engine
    source : exp.Table
        The table whose rows are scored.
    prefix : str
        Of the names of steps and tables; the table of the user has another name.
    alias : str
        Name of the table within the statement. An engine may confuse it with a column of this name.
    row_number : str
        Name of the column that numbers the rows, if the engine cannot keep a row as one value.
    """

    engine: Engine
    source: exp.Table
    prefix: str = "suffice_"
    alias: str = "suffice_input"
    row_number: str = "row_number"
    _columns: dict[str, _Column] = field(default_factory=dict)
    _tables: dict[str, tuple[exp.Expression, Sequence[str]]] = field(default_factory=dict)
    _joins: dict[int, list[tuple[Table, exp.Expression]]] = field(default_factory=dict)
    _size: int = 0
    _by_number: bool = False

    # ------------------------------------------------------------------ columns

    def let(self, operand: Operand, name: str, after: Name | None = None) -> Name:
        """A computed column with this value; its name gets a number if there is another column of this name.

        It is computed in a step after that of the column ``after``, if it is given.
        """
        if isinstance(operand, Name):
            return operand
        expression = self.engine.value(operand)
        step = 1 + self._last_step(expression, -1 if after is None else self._columns[after].step)
        unique, i = name, 1
        while unique in self._columns:
            i += 1
            unique = f"{name}_{i}"
        self._columns[unique] = _Column(expression, step, step)
        return Name(unique)

    def let_all(self, operands: Iterable[Operand], name: str) -> list[Name]:
        """Computed columns ``name_0``, ``name_1``, …."""
        return [self.let(each, f"{name}_{i}") for i, each in enumerate(operands)]

    def named(self, operand: Operand, name: str) -> Operand:
        """A computed column for an expression that is used several times; itself, if there are many such columns."""
        return operand if len(self._columns) > self.engine.most_columns // 4 else self.let(operand, name)

    def cell(self, name: str) -> exp.Expression:
        """A column of the user's table; an expression that uses it uses no computed columns."""
        return quoted(name, self.alias)

    def _last_step(self, expression: exp.Expression, least: int = -1) -> int:
        """The last step that an expression needs, −1 for the user's table; the step after it gets their columns."""
        used, last = [], least
        for node in expression.walk():
            self._size += 1
            if isinstance(node, exp.Column) and not node.args.get("table") and node.name != self.alias:
                used.append(self._columns[node.name])
                last = max(last, used[-1].step)
        self._check_size()
        for column in used:
            column.needed = max(column.needed, last + 1)
        return last

    def _check_size(self) -> None:
        if self._size > MOST_NODES:
            raise InputError(
                "The model is too large for one SQL statement, which would have millions of numbers. Use fewer "
                "columns, classes, levels or words.",
                page=PAGE,
            )

    # ------------------------------------------------------------------ tables

    def values(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[exp.Expression]]) -> Table:
        """A table of the statement with given rows. The first row has the types of the columns."""
        self._size += sum(map(len, rows))
        self._check_size()
        own = self.names_of_next(columns)
        typed = [self.engine.first_cell(each) for each in rows[0]]
        tuples = [exp.Tuple(expressions=list(row)) for row in (typed, *rows[1:])]
        table = f"{self.prefix}{name}_{len(self._tables) + 1}"
        self._tables[table] = self.engine.named_values(exp.Values(expressions=tuples), own)
        return Table(table, own)

    def derive(self, name: str, values: Mapping[str, Operand], rows: exp.Select) -> Table:
        """A table of the statement that is computed from others: ``rows`` says from which, and how they are grouped."""
        own = self.names_of_next(values)
        select = rows.copy()
        for column, value in zip(own, values.values(), strict=True):
            select = select.select(aliased(value, column), copy=False)
        return self.add_table(name, own, select)

    def names_of_next(self, columns: Iterable[str]) -> tuple[Name, ...]:
        """Names of the columns of the next table, with its number; no computed column has such a name."""
        return tuple(Name(f"{column}_t{len(self._tables) + 1}") for column in columns)

    def add_table(self, name: str, columns: tuple[Name, ...], query: exp.Expression) -> Table:
        """A table of the statement, given as a query with columns of these names."""
        self._check_width(len(columns))
        self._size += sum(1 for _ in query.walk())
        self._check_size()
        table = Table(f"{self.prefix}{name}_{len(self._tables) + 1}", columns)
        self._tables[table.name] = query, ()
        return table

    def source_rows(self) -> exp.Select:
        """A query without columns on the user's table, for `derive`."""
        return exp.select().from_(self._source(), copy=False)

    def rows_once(self, table: Table) -> exp.Select:
        """A query without columns on a table whose columns the engine computes once for each row, for `derive`."""
        once = self.engine.fenced(exp.select(*map(exp.column, table.columns)).from_(table.name))
        return exp.select().from_(once.subquery("once"), copy=False)

    def join(self, table: Table, on: Mapping[Name, Operand]) -> None:
        """Let the columns of a table be those of its row with these values, or NULL if there is no such row."""
        condition = balanced(
            lambda a, b: exp.And(this=a, expression=b), [equal(value, column) for column, value in on.items()]
        )
        step = 1 + max(self._last_step(expression_of(value)) for value in on.values())
        while len(self._joins.setdefault(step, [])) == MOST_JOINS:
            step += 1
        for value in on.values():
            for node in expression_of(value).find_all(exp.Column):
                self._columns[node.name].needed = max(self._columns[node.name].needed, step)
        self._joins[step].append((table, condition))
        for column in table.columns:
            self._columns[column] = _Column(None, step, step)

    def _check_width(self, n_columns: int) -> None:
        most = self.engine.most_columns
        if n_columns > most:
            raise InputError(
                f"The model is too large for one statement of {self.engine.title}: a subquery would have "
                f"{counted(n_columns, 'column')}, and the most are {most:,}.",
                page=PAGE,
            )

    # ------------------------------------------------------------------ statement

    def statement(self, outputs: Sequence[tuple[Name, str]], kept: Sequence[str] | None) -> exp.Select:
        """The statement: kept columns of the user's table, all if None, and computed columns with their names."""
        finish = self._kept(kept)
        last = 1 + max(self._columns[name].step for name in [*finish.names, *(name for name, _ in outputs)])
        for name in [*finish.names, *(name for name, _ in outputs)]:
            self._columns[name].needed = last
        final = exp.select(*finish.columns)
        step = f"{self.prefix}{last}" if finish.by_number is None else f"{self.prefix}scored"
        for name, alias in outputs:
            final = final.select(exp.alias_(exp.column(name, table=step), alias, quoted=True), copy=False)
        final = final.from_(step, copy=False)
        if finish.by_number is not None:
            on = equal(quoted(self.row_number, self.alias), exp.column(finish.by_number, table=step))
            final = final.join(self._source(), on=on, copy=False)
            final = final.with_(self._numbered, as_=self._numbered_rows(), copy=False)
            final.ctes[0].set("materialized", True)
        for table, (expression, columns) in self._tables.items():
            alias = f"{table}({', '.join(columns)})" if columns else table
            final = final.with_(alias, as_=expression, copy=False)
        for i in range(last):
            final = final.with_(f"{self.prefix}{i + 1}", as_=self._step(i), copy=False)
        if finish.by_number is not None:
            scored = self._scored([*finish.names, *(name for name, _ in outputs)], last)
            final = final.with_(step, as_=scored, copy=False)
        return final

    def _step(self, i: int) -> exp.Select:
        """The query of a step, whose columns later steps need."""
        columns = []
        for name, column in self._columns.items():
            if column.step <= i < column.needed:
                own = column.expression if column.step == i else None
                columns.append(exp.column(name) if own is None else exp.alias_(own, name))
        self._check_width(len(columns))
        select = exp.select(*(columns or [number(0.0)]))
        select = select.from_(self._source() if i == 0 else f"{self.prefix}{i}", copy=False)
        for table, condition in self._joins.get(i, ()):
            select = select.join(exp.to_table(table.name), on=condition, join_type="left", copy=False)
        return self.engine.fenced(select)

    def _source(self) -> exp.Expression:
        source = exp.to_table(self._numbered) if self._by_number else self.source.copy()
        source.set("alias", exp.TableAlias(this=exp.to_identifier(self.alias)))
        return source

    @property
    def _numbered(self) -> str:
        return f"{self.prefix}rows"

    def _numbered_rows(self) -> exp.Select:
        """The user's table with a number of each row. Of columns of the same name, the first one is found."""
        number_of_row = exp.Window(this=exp.RowNumber(), partition_by=[])
        alias = exp.Alias(this=number_of_row, alias=exp.to_identifier(self.row_number, quoted=True))
        return exp.select(alias, exp.Star()).from_(self.source.copy(), copy=False)

    def _scored(self, names: Sequence[Name], last: int) -> exp.Expression:
        """The columns of the last step, and no rows of the user's table.

        SQLite takes a step after many others for a single row, and would join rows without an index. With the rows of
        the table, of which the condition leaves none, it expects as many.
        """
        columns = list(dict.fromkeys(names))
        scored = exp.select(*map(exp.column, columns)).from_(f"{self.prefix}{last}")
        none = exp.select(*(exp.null() for _ in columns)).from_(self._source(), copy=False)
        none = none.where(less(quoted(self.row_number, self.alias), 0), copy=False)
        return exp.union(scored, none, distinct=False, copy=False)

    def _kept(self, kept: Sequence[str] | None) -> _Kept:
        if kept is not None:
            names = self.let_all([self.cell(each) for each in kept], "kept")
            pairs = zip(names, kept, strict=True)
            aliases = [
                exp.Alias(this=exp.column(own), alias=exp.to_identifier(each, quoted=True)) for own, each in pairs
            ]
            return _Kept(names, list(aliases))
        row = self.engine.whole_row(self.alias)
        if row is not None:
            name = self.let(row, "input_row")
            return _Kept([name], [self.engine.columns_of(name)])
        self._by_number = True
        name = self.let(quoted(self.row_number, self.alias), "input_number")
        return _Kept([name], [exp.Column(this=exp.Star(), table=exp.to_identifier(self.alias))], name)


@dataclass(frozen=True)
class _Kept:
    """How the columns of the user's table come into the result.

    Attributes
    ----------
    names : list of Name
        Computed columns that hold them.
    columns : list of exp.Expression
        The columns themselves.
    by_number : Name, optional
        A computed column that is the number of the row, if the table is joined again.
    """

    names: list[Name]
    columns: list[exp.Expression]
    by_number: Name | None = None
