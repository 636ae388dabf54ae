"""Price files in YAML as rows; apart from the rest, so that only who reads YAML loads its parser."""

from collections.abc import Iterator

import yaml

from ksolver_cli.catalog.userfile.model import Per, PriceFileError, Problem
from ksolver_cli.catalog.userfile.rows import AMOUNT_COLUMNS, COLUMNS, DEFAULT_COLUMNS, Cell, Kind, Row, Rows


def yaml_rows(text: str, name: str) -> Rows:
    """Rows of a YAML (or JSON) price file. Raises PriceFileError when it is not a mapping of the known sections."""
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise PriceFileError(f"{name}{line} is not YAML", "check indentation, colons and quotes") from error
    if not isinstance(top, yaml.MappingNode):
        raise PriceFileError(f"{name} is not a mapping", f"start it with 'currency:' and '{Kind.PRICE}:'")
    found = Rows()
    for key, node in _pairs(top, found.problems):
        _section(key, node, found)
    return found


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _text(node: yaml.ScalarNode) -> str:
    """The scalar as written, so that no number passes through a float; empty for null."""
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _pairs(node: yaml.MappingNode, problems: list[Problem]) -> Iterator[tuple[str, yaml.Node]]:
    seen: set[str] = set()
    for key, value in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
        if name in seen:
            problems.append(Problem(_line(key), name, "the key is there twice"))
        seen.add(name)
        yield name, value


def _section(key: str, node: yaml.Node, found: Rows) -> None:
    if key in DEFAULT_COLUMNS and isinstance(node, yaml.ScalarNode):
        found.defaults[key] = Cell(_text(node), _line(node))
    elif key not in {*Kind}:
        known = ", ".join((*DEFAULT_COLUMNS, *Kind))
        found.problems.append(Problem(_line(node), key, f"unknown key; known are {known}"))
    elif not isinstance(node, yaml.SequenceNode):
        found.problems.append(Problem(_line(node), key, "must be a list"))
    else:
        for item in node.value:
            if isinstance(item, yaml.MappingNode):
                found.rows += _yaml_rows(Kind(key), item, found.problems)
            else:
                found.problems.append(Problem(_line(item), key, "each item must be a mapping"))


def _yaml_rows(kind: Kind, node: yaml.MappingNode, problems: list[Problem]) -> Iterator[Row]:
    """One row, or one for each unit where the amount is a mapping such as `{vcpu: 0.03, gib: 0.004}`."""
    cells: dict[str, Cell] = {}
    amounts: list[tuple[str, str, Cell]] = []
    for key, value in _pairs(node, problems):
        if key not in COLUMNS[kind]:
            known = ", ".join(sorted(COLUMNS[kind]))
            problems.append(Problem(_line(value), key, f"unknown key; known are {known}"))
        elif isinstance(value, yaml.ScalarNode):
            cells[key] = Cell(_text(value), _line(value))
        elif key == "selector" and isinstance(value, yaml.MappingNode):
            cells[key] = Cell(_selector_text(value, problems), _line(value))
        elif key in AMOUNT_COLUMNS and isinstance(value, yaml.MappingNode):
            amounts += [(key, per, cell) for per, cell in _amounts(value, problems)]
        else:
            problems.append(Problem(_line(value), key, "must be a single value"))
    line = _line(node)
    if not amounts:
        yield Row(kind, line, cells)
    for key, per, cell in amounts:
        yield Row(kind, cell.line, {**cells, key: cell, "per": Cell(per, cell.line)})


def _selector_text(node: yaml.MappingNode, problems: list[Problem]) -> str:
    parts = []
    for key, value in _pairs(node, problems):
        if isinstance(value, yaml.ScalarNode):
            parts.append(f"{key}={_text(value)}")
        else:
            problems.append(Problem(_line(value), f"selector.{key}", "must be a single value"))
    return ",".join(parts)


def _amounts(node: yaml.MappingNode, problems: list[Problem]) -> Iterator[tuple[str, Cell]]:
    for per, value in _pairs(node, problems):
        if per in {*Per} and isinstance(value, yaml.ScalarNode):
            yield per, Cell(_text(value), _line(value))
        else:
            problems.append(Problem(_line(value), per, f"must be one amount for each of {', '.join(Per)}"))
