"""Options about prices, shared by the commands that need them, and the currency they end in."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

from ksolver_cli.catalog.facts import PricingOptions
from ksolver_cli.catalog.userfile.files import load_price_file
from ksolver_cli.catalog.userfile.model import PriceFileError, UserPrices
from ksolver_cli.cli.common.exits import CommandError, Exit


@dataclass(frozen=True, slots=True)
class Pricing:
    """What to price with: the user's file, if any, and the options."""

    user: UserPrices | None
    options: PricingOptions


def pricing(file: Path | None, region: str | None, spot_factor: str | None, collected_at: str) -> Pricing:
    """Read the price file and the options; raises CommandError with every problem at once."""
    return Pricing(_user_prices(file), PricingOptions(region, None, _factor(spot_factor), (), _day(collected_at)))


def _user_prices(file: Path | None) -> UserPrices | None:
    if file is None:
        return None
    try:
        return load_price_file(file)
    except PriceFileError as error:
        raise CommandError(str(error), error.advice, Exit.USAGE) from error


def _factor(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        factor = Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"--spot-factor {text}: not a number", "give e.g. 0.35", Exit.USAGE) from error
    if not factor.is_finite() or not 0 < factor <= 1:
        raise CommandError(f"--spot-factor {text}: not above 0 and at most 1", "give e.g. 0.35", Exit.USAGE)
    return factor


def _day(collected_at: str) -> date | None:
    """The day of the snapshot decides which commitments still run; the clock of this machine does not."""
    try:
        return date.fromisoformat(collected_at[:10])
    except ValueError:
        return None
