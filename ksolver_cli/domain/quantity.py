"""Resource quantities, exactly as Kubernetes parses, compares, adds and prints them.

Source of the rules: apimachinery `pkg/api/resource` (Quantity, its suffixes and its rounding).
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

NANOS = 10**9
"""Quantities are whole numbers of 10^-9: the finest step that parsing keeps."""

_MAX_BINARY = (2**63 - 1) * NANOS
_MAX_DIGITS = 400
_INT64_DIGITS = 18
_TEXT = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*(?:[+-]?[0-9]*))", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAME = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_NAME = {0: ""} | {exponent: suffix for suffix, exponent in _BINARY.items()}


class QuantityError(ValueError):
    """The value is not a resource quantity; the message shows it, cut short."""


class Format(StrEnum):
    """The three families of suffixes; a quantity prints in the one it was written in."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A parsed quantity: an exact number of 10^-9, how it was written, and its text where that is already canonical.

    Comparison is by amount alone, as `Cmp` does.
    """

    nanos: int
    format: Format = Format.DECIMAL_SI
    text: str | None = None

    def value(self) -> int:
        """Whole units, a fraction rounded away from zero as Go's `Value()` does, without its overflow."""
        return _away(self.nanos, NANOS)

    def milli_value(self) -> int:
        """Thousandths, a fraction rounded away from zero as Go's `MilliValue()` does, without its overflow."""
        return _away(self.nanos, NANOS // 1000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: "Quantity") -> bool:
        return self.nanos <= other.nanos

    def __add__(self, other: "Quantity") -> "Quantity":
        """The exact sum, in the format of the left side unless that is zero."""
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def __sub__(self, other: "Quantity") -> "Quantity":
        """The exact difference, in the format of the left side unless that is zero."""
        return Quantity(self.nanos - other.nanos, self.format if self.nanos else other.format)

    def __str__(self) -> str:
        """The canonical text: no fraction, no precision lost, the largest suffix that allows both.

        A number that was parsed from text already in that form keeps its text, as in Go (`+1` stays `+1`).
        """
        if self.text is not None:
            return self.text
        if self.nanos == 0:
            return "0"
        whole, fraction = divmod(self.nanos, NANOS)
        if self.format is Format.BINARY_SI and not fraction and abs(whole) >= 1024:
            return _binary_text(whole)
        return _decimal_text(self.nanos, self.format is Format.DECIMAL_EXPONENT)


def parse_quantity(value: object) -> Quantity:
    """Parse a JSON string or number as `resource.ParseQuantity` parses its text.

    Anything finer than 10^-9 is rounded away from zero; amounts written with a binary suffix are capped at 2^63 − 1.
    Raises QuantityError for anything else, including null, booleans, NaN and infinities.
    """
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _parse_number(value)
    raise QuantityError(f"a quantity is a string or a number, not {type(value).__name__}")


def _parse_number(value: float) -> Quantity:
    if isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:
        raise QuantityError(f"a number of more than {_MAX_DIGITS} digits")
    return _parse(repr(value))


@lru_cache(maxsize=1 << 16)
def _parse(text: str) -> Quantity:
    if text == "0":
        return Quantity(0, Format.DECIMAL_SI, text)
    match = _TEXT.fullmatch(text) if len(text) <= _MAX_DIGITS else None
    if match is None or not text:
        raise QuantityError(f"{text[:40]!r} is not a quantity")
    sign, whole, fraction, suffix = match.group(1), match.group(2).lstrip("0"), match.group(3) or "", match.group(4)
    exponent, form = _suffix(suffix, text)
    magnitude = _magnitude(int((whole or "0") + fraction), len(fraction), exponent, form)
    nanos = -magnitude if sign == "-" else magnitude
    if form is Format.BINARY_SI and 0 < magnitude < NANOS:
        form = Format.DECIMAL_SI
    return Quantity(nanos, form, text if _is_canonical(whole, fraction, exponent, form) else None)


def _suffix(suffix: str, text: str) -> tuple[int, Format]:
    """Exponent and format of a suffix: powers of ten, or of two for the binary ones."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], Format.DECIMAL_SI
    if suffix in _BINARY:
        return _BINARY[suffix], Format.BINARY_SI
    match = _EXPONENT.fullmatch(suffix)
    if match is None:
        raise QuantityError(f"{text[:40]!r} has no known suffix")
    exponent = int(match.group(1))
    if abs(exponent) > _MAX_DIGITS:
        # Go would try to write out the digits; no amount of this size means anything.
        raise QuantityError(f"{text[:40]!r} has an exponent out of range")
    return exponent, Format.DECIMAL_EXPONENT


def _magnitude(digits: int, decimals: int, exponent: int, form: Format) -> int:
    """|quantity| in 10^-9, rounded up."""
    if form is Format.BINARY_SI:
        return min(_away((digits << exponent) * NANOS, 10**decimals), _MAX_BINARY)
    scale = exponent - decimals + 9
    return digits * 10**scale if scale >= 0 else _away(digits, 10**-scale)


def _is_canonical(whole: str, fraction: str, exponent: int, form: Format) -> bool:
    """Whether Go's fast path keeps the text as it stands, so that `String()` repeats it."""
    digits = len(whole or "0") + len(fraction)
    shifted = (whole or "0") + fraction
    if form is Format.BINARY_SI:
        precision = -1 if fraction else 15 - digits - exponent * 3 // 10 - 1
        return precision >= 0 and int(shifted) & 7 != 0
    scale = exponent - len(fraction)
    fits = digits <= _INT64_DIGITS and scale >= -9
    return fits and scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"


def _away(amount: int, unit: int) -> int:
    """Divide, rounding away from zero."""
    magnitude = -(-abs(amount) // unit)
    return magnitude if amount >= 0 else -magnitude


def _decimal_text(nanos: int, as_exponent: bool) -> str:
    exponent = -9
    while nanos % 1000 == 0 and (as_exponent or exponent < 18):
        nanos //= 1000
        exponent += 3
    if not as_exponent:
        return f"{nanos}{_DECIMAL_NAME[exponent]}"
    return f"{nanos}e{exponent}" if exponent else str(nanos)


def _binary_text(whole: int) -> str:
    exponent = 0
    while whole % 1024 == 0 and exponent < 60:
        whole //= 1024
        exponent += 10
    return f"{whole}{_BINARY_NAME[exponent]}"
