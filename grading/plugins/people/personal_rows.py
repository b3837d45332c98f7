"""Find and delete all rows of a gradebook about one student.

Covers nbgrader's tables, ours, and tables added later. A row belongs to a student if a column called `student` or
`student_id` has the id, or if a column has the key of a row that belongs to the student. Such a column is a foreign
key, or holds one of nbgrader's keys, which are unique texts of 32 letters (our own tables have no foreign keys). So a
new table needs no change here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nbgrader.api import Base, Gradebook
from sqlalchemy import Column, Enum, MetaData, String, Table, and_, inspect, or_, select, text
from sqlalchemy.engine import Connection

from grading.safe_text import plural

Rows = dict[str, list[dict[str, Any]]]
NAMED = ("student", "student_id")
KEY = re.compile(r"[0-9a-f]{32}")
AT_ONCE = 500  # values in one query


def tables_of(connection: Connection) -> MetaData:
    """All tables of the database.

    nbgrader's and ours are as declared, others as the database describes them.
    """
    tables = MetaData()
    for name in inspect(connection).get_table_names():
        if name in Base.metadata.tables:
            Base.metadata.tables[name].to_metadata(tables)
        else:
            Table(name, tables, autoload_with=connection)
    return tables


def rows_about(connection: Connection, tables: MetaData, student: str) -> Rows:
    """The student's rows, by table."""
    found: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {table.name: {} for table in tables.sorted_tables}
    grew = True
    while grew:
        grew = False
        keys = {key for name, rows in found.items() for key in _keys_of(tables.tables[name], rows.values())}
        for table in tables.sorted_tables:
            for row in list(_matching(connection, table, student, found, sorted(keys))):
                key = tuple(row[column.name] for column in _key_columns(table))
                grew |= key not in found[table.name]
                found[table.name][key] = row
    return {name: list(rows.values()) for name, rows in found.items() if rows}


def delete_rows(gradebook: Gradebook, student: str) -> Rows:
    """Delete the student's rows, and their remains in the database's file.

    Returns the rows.
    """
    with gradebook.engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("PRAGMA secure_delete = ON"))
        tables = tables_of(connection)
        rows = rows_about(connection, tables, student)
        for table in reversed(tables.sorted_tables):
            for row in rows.get(table.name, ()):
                same = [column == row[column.name] for column in _key_columns(table)]
                connection.execute(table.delete().where(and_(*same)))
    with gradebook.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM"))
    return rows


def mentions(connection: Connection, tables: MetaData, student: str, rows: Mapping[str, Any]) -> Iterator[str]:
    """Places where a text names the student, outside the student's own rows."""
    word = re.compile(rf"(?<!\w){re.escape(student)}(?!\w)")
    for table in tables.sorted_tables:
        own = {tuple(row[column.name] for column in _key_columns(table)) for row in rows.get(table.name, ())}
        for column in _texts(table):
            query = select(table).where(column.contains(student, autoescape=True))
            others = [
                row
                for row in connection.execute(query).mappings()
                if word.search(str(row[column.name])) and tuple(row[c.name] for c in _key_columns(table)) not in own
            ]
            if others:
                yield f"{table.name}.{column.name}, in {plural(len(others), 'row')} about others"


def _matching(
    connection: Connection, table: Table, student: str, found: Mapping[str, Mapping[Any, Any]], keys: list[str]
) -> Iterator[dict[str, Any]]:
    named = [table.columns[name] == student for name in NAMED if name in table.columns]
    if table.name == "student":
        named.append(table.columns["id"] == student)
    if named:
        yield from _select(connection, table, or_(*named))
    for column in table.columns:
        for foreign in column.foreign_keys:
            there = foreign.column.table.name
            values = [row[foreign.column.name] for row in found.get(there, {}).values()]
            yield from _in(connection, table, column, values)
    for column in _texts(table):
        if not column.foreign_keys:
            yield from _in(connection, table, column, keys)


def _in(connection: Connection, table: Table, column: Column[Any], values: list[Any]) -> Iterator[dict[str, Any]]:
    for at in range(0, len(values), AT_ONCE):
        yield from _select(connection, table, column.in_(values[at : at + AT_ONCE]))


def _select(connection: Connection, table: Table, where: Any) -> Iterator[dict[str, Any]]:
    return (dict(row) for row in connection.execute(select(table).where(where)).mappings())


def _keys_of(table: Table, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The rows' primary keys that nbgrader made.

    They are random, so they occur nowhere else by chance.
    """
    values = [row[column.name] for row in rows for column in table.primary_key.columns]
    return [value for value in values if isinstance(value, str) and KEY.fullmatch(value)]


def _key_columns(table: Table) -> list[Column[Any]]:
    return list(table.primary_key.columns) or list(table.columns)


def _texts(table: Table) -> list[Column[Any]]:
    return [column for column in table.columns if isinstance(column.type, String) and not isinstance(column.type, Enum)]
