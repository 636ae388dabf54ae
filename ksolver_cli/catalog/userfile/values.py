"""Single values of a price file: amounts, currencies, dates, names of a set."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

from ksolver_cli.catalog.selectors import parse_selector
from ksolver_cli.catalog.userfile.rows import Cell
from ksolver_cli.domain.labels import Requirement
from ksolver_cli.domain.money import CapacityType, hourly_from_monthly, to_micros

_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d{1,2})?|\.\d+")
_HIGHEST_FACTOR = 2

# ISO 4217, active codes of currencies in circulation.
_CODES = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP "
    "CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF "
    "IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD "
    "MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB "
    "RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD "
    "UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG"
)
CURRENCIES = frozenset(_CODES.split())


def number(text: str) -> Decimal:
    """A plain non-negative decimal number. Raises ValueError that says what is wrong."""
    if text.startswith("-"):
        raise ValueError(f"{text} is negative")
    if not _NUMBER.fullmatch(text):
        hint = "; write 1.5, without thousands separators or currency signs" if text[:1] else ""
        raise ValueError(f"{text!r} is not a number{hint}")
    return Decimal(text)


def hourly(text: str) -> int:
    """Micro-units an hour of an amount an hour. Raises ValueError; an amount that is not 0 must not round to it."""
    return _not_vanishing(text, to_micros)


def monthly(text: str) -> int:
    """Micro-units an hour of an amount a month of 730 hours. Raises ValueError as `hourly` does."""
    return _not_vanishing(text, hourly_from_monthly)


def _not_vanishing(text: str, convert: Callable[[Decimal], int]) -> int:
    amount = number(text)
    micros = convert(amount)
    if amount and not micros:
        raise ValueError(f"{text} rounds to 0; the smallest amount is a millionth an hour")
    return micros


def factor(text: str) -> Decimal:
    """A discount factor above 0 and at most 2. Raises ValueError."""
    value = number(text)
    if not 0 < value <= _HIGHEST_FACTOR:
        raise ValueError(f"{text} is not a factor; the price is multiplied by it: 0.72 takes 28 % off")
    return value


def currency(text: str) -> str:
    """An ISO 4217 code in capitals. Raises ValueError."""
    if text not in CURRENCIES:
        raise ValueError(f"{text!r} is not an ISO 4217 code such as USD or EUR")
    return text


def capacity(text: str) -> CapacityType:
    """A capacity type. Raises ValueError."""
    if text not in {*CapacityType}:
        raise ValueError(f"{text!r} is not one of {', '.join(CapacityType)}")
    return CapacityType(text)


def positive_count(text: str) -> int:
    """A whole number above 0. Raises ValueError."""
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"{text!r} is not a number of nodes")
    return int(text)


def day(text: str) -> date:
    """A date as 2027-03-31. Raises ValueError."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a date such as 2027-03-31") from None


def selector(text: str) -> tuple[Requirement, ...]:
    """A label selector. Raises ValueError."""
    return parse_selector(text)


def text_of(cell: Cell | None) -> str | None:
    """The text of a cell that is there and not empty."""
    return cell.text if cell is not None and cell.text else None
