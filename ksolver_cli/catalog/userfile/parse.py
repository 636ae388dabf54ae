"""Rows of a price file to what they say; everything that is wrong is collected, nothing stops at the first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ksolver_cli.catalog.userfile import values
from ksolver_cli.catalog.userfile.model import (
    CardPrice,
    Commitment,
    Discount,
    Match,
    Per,
    Problem,
    Rate,
    UserPrice,
    UserPrices,
)
from ksolver_cli.catalog.userfile.rows import Cell, Kind, Row, Rows
from ksolver_cli.domain.labels import Requirement

T = TypeVar("T")


@dataclass
class Parser:
    """Reads the rows of one file into prices and problems."""

    name: str
    defaults: dict[str, Cell] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    prices: dict[Match, UserPrice] = field(default_factory=dict)
    cards: dict[str, CardPrice] = field(default_factory=dict)
    discounts: list[Discount] = field(default_factory=list)
    commitments: list[Commitment] = field(default_factory=list)
    spot: list[tuple[Requirement, ...]] = field(default_factory=list)

    def read(self, rows: Iterable[Row]) -> UserPrices:
        """All rows, in file order."""
        take: dict[Kind, Callable[[Row], None]] = {
            Kind.PRICE: self._price,
            Kind.CARD: self._card,
            Kind.DISCOUNT: self._discount,
            Kind.COMMITMENT: self._commitment,
            Kind.SPOT: self._spot,
        }
        for row in rows:
            take[row.kind](row)
        for price in self.prices.values():
            self._whole_rate(price)
        return UserPrices(
            self.name,
            tuple(self.prices.values()),
            tuple(self.cards.values()),
            tuple(self.discounts),
            tuple(self.commitments),
            tuple(self.spot),
        )

    def _problem(self, line: int, column: str, message: str) -> None:
        self.problems.append(Problem(line, column, message))

    def _optional(self, row: Row, column: str, convert: Callable[[str], T]) -> T | None:
        cell = row.cells.get(column) or self.defaults.get(column)
        if cell is None or not cell.text:
            return None
        try:
            return convert(cell.text)
        except ValueError as error:
            self._problem(cell.line, column, str(error))
            return None

    def _required(self, row: Row, column: str, convert: Callable[[str], T], why: str) -> T | None:
        cell = row.cells.get(column) or self.defaults.get(column)
        if cell is None or not cell.text:
            self._problem(row.line, column, why)
            return None
        return self._optional(row, column, convert)

    def _match(self, row: Row) -> Match:
        return Match(
            node=self._optional(row, "node", str),
            selector=self._optional(row, "selector", values.selector) or (),
            provider=self._optional(row, "provider", str),
            region=self._optional(row, "region", str),
            instance_type=self._optional(row, "instance_type", str),
            family=self._optional(row, "family", str),
            capacity_type=self._optional(row, "capacity_type", values.capacity),
        )

    def _amount(self, row: Row) -> int | None:
        stated = [c for c in ("hourly", "monthly") if c in row.cells and row.cells[c].text]
        if len(stated) != 1:
            self._problem(row.line, "hourly", "state one amount, either hourly or monthly")
            return None
        convert = values.hourly if stated[0] == "hourly" else values.monthly
        return self._optional(row, stated[0], convert)

    def _currency(self, row: Row) -> str | None:
        return self._required(row, "currency", values.currency, "state the currency, such as USD; it is never assumed")

    def _provenance(self, row: Row) -> tuple[str, str | None]:
        given = self._optional(row, "source", str)
        day = self._optional(row, "date", values.day)
        where = f"{self.name}, line {row.line}"
        return f"{given} ({where})" if given else where, day.isoformat() if day else None

    def _price(self, row: Row) -> None:
        match = self._match(row)
        amount = self._amount(row)
        per = self._required(row, "per", _per, f"state what the amount is for: {', '.join(Per)}")
        currency = self._currency(row)
        source, day = self._provenance(row)
        if amount is None or per is None or currency is None:
            return
        known = self.prices.get(match)
        if known is None:
            self.prices[match] = UserPrice(match, Rate().with_amount(per, amount), currency, source, day, row.line)
        elif known.rate.amount(per) is not None:
            self._problem(row.line, per, f"the same nodes have a price per {per} already, from line {known.line} on")
        elif known.currency != currency:
            self._problem(row.line, "currency", f"{currency}, but line {known.line} for the same nodes has another")
        else:
            self.prices[match] = replace(known, rate=known.rate.with_amount(per, amount))

    def _whole_rate(self, price: UserPrice) -> None:
        rate = price.rate
        units = [u for u in (Per.GPU, Per.VCPU, Per.GIB) if rate.amount(u) is not None]
        if rate.node is not None and units:
            self._problem(price.line, "per", f"a price per node and per {units[0]} for the same nodes: keep one")
        if (rate.vcpu is None) != (rate.gib is None):
            have, lack = (Per.VCPU, Per.GIB) if rate.gib is None else (Per.GIB, Per.VCPU)
            self._problem(price.line, "per", f"a price per {have} needs one per {lack} too; write 0 if it is free")

    def _card(self, row: Row) -> None:
        card = self._required(row, "card", str, "name the card, such as NVIDIA-A100-SXM4-80GB")
        amount = self._amount(row)
        currency = self._currency(row)
        source, day = self._provenance(row)
        if card is None or amount is None or currency is None:
            return
        if card in self.cards:
            self._problem(row.line, "card", f"the card has a price already, in line {self.cards[card].line}")
            return
        self.cards[card] = CardPrice(card, amount, currency, source, day, row.line)

    def _discount(self, row: Row) -> None:
        match = self._match(row)
        factor = self._required(row, "factor", values.factor, "state the factor, such as 0.72")
        if factor is not None:
            self.discounts.append(Discount(match, factor, row.line))

    def _commitment(self, row: Row) -> None:
        match = self._match(row)
        count = self._optional(row, "count", values.positive_count)
        until = self._required(row, "until", values.day, "state the last day of the commitment")
        name = self._optional(row, "name", str) or f"commitment in line {row.line}"
        if match == Match():
            self._problem(row.line, "selector", "say which nodes are committed: selector, family, instance_type …")
        elif until is not None:
            self.commitments.append(Commitment(name, match, count, until, row.line))

    def _spot(self, row: Row) -> None:
        found = self._required(row, "selector", values.selector, "state the labels that mark spot nodes")
        if found is not None:
            self.spot.append(found)


def _per(text: str) -> Per:
    if text not in {*Per}:
        raise ValueError(f"{text!r} is not one of {', '.join(Per)}")
    return Per(text)


def parse(name: str, rows: Rows) -> tuple[UserPrices, list[Problem]]:
    """What the rows say, and everything that is wrong with them, by line."""
    parser = Parser(name, rows.defaults, list(rows.problems))
    found = parser.read(rows.rows)
    return found, sorted(parser.problems, key=lambda p: (p.line, p.field, p.message))
