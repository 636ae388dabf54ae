"""Money, shares and counts as people read them. Amounts are micro-units of a currency an hour; months are 730 hours."""

from ksolver_cli.domain.money import HOURS_PER_MONTH

_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
_MICROS = 1_000_000


def symbol(currency: str) -> str:
    """The sign put before an amount; an unknown currency is written as its code and a space."""
    return _SYMBOLS.get(currency, f"{currency} ")


def monthly(micros: int, currency: str, *, sign: bool = False) -> str:
    """An amount a month, rounded to whole units from 100 upwards and to cents below, half away from zero."""
    cents = _rounded(abs(micros) * HOURS_PER_MONTH * 100, _MICROS)
    whole = _rounded(cents, 100)
    body = f"{whole:,}" if whole >= 100 else f"{cents // 100}.{cents % 100:02d}"
    return f"{_sign(micros, sign)}{symbol(currency)}{body}"


def hourly(micros: int, currency: str) -> str:
    """An amount an hour: two decimals from 1 upwards, four below."""
    if abs(micros) >= _MICROS:
        cents = _rounded(abs(micros), _MICROS // 100)
        return f"{_sign(micros, False)}{symbol(currency)}{cents // 100:,}.{cents % 100:02d}"
    return f"{_sign(micros, False)}{symbol(currency)}0.{_rounded(abs(micros), 100):04d}"


def percent(part: int, whole: int) -> str:
    """Part of whole with one decimal below 10 % and none above; an empty whole has no percentage."""
    if whole <= 0:
        return "–"
    share = 100 * part / whole
    return f"{share:.1f} %" if 0 < abs(share) < 9.95 else f"{share:.0f} %"


def many(count: int, noun: str) -> str:
    """A count with its noun, in the plural unless there is exactly one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _sign(micros: int, plus: bool) -> str:
    if micros < 0:
        return "−"
    return "+" if plus and micros > 0 else ""


def _rounded(value: int, unit: int) -> int:
    return (2 * value + unit) // (2 * unit)
