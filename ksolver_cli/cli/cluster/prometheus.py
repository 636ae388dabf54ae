"""From flags to where usage history comes from."""

import os
import re

from ksolver_cli.cli.common.cluster_flags import PrometheusOptions
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.collect.prometheus_settings import PrometheusFlags, PrometheusSettings, SettingsError, settings_from
from ksolver_cli.collect.usage.gather import UsageRequest

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LABEL = re.compile(r"([a-zA-Z_]\w*)=(.*)", re.DOTALL)


def prometheus_settings(options: PrometheusOptions) -> PrometheusSettings | None:
    """Return the settings of a Prometheus that was named, typed or in the environment; raises CommandError."""
    if options.prometheus_url is None and not os.environ.get("KSOLVER_PROMETHEUS_URL"):
        return None
    flags = PrometheusFlags(
        options.prometheus_url,
        options.prometheus_username,
        options.prometheus_token_file,
        options.prometheus_tenant,
        options.prometheus_ca_file,
        options.prometheus_insecure_skip_tls_verify,
    )
    try:
        settings = settings_from(flags)
        if settings.secret is not None:
            settings.secret.reveal()
    except SettingsError as error:
        raise CommandError(str(error), "see `ksolver snapshot --help`", Exit.USAGE) from error
    return settings


def usage_request(options: PrometheusOptions) -> UsageRequest:
    """Return what to ask for usage, and whom; raises CommandError."""
    seconds, step = _seconds(options.usage_window, "--usage-window"), _seconds(options.usage_step, "--usage-step")
    if step > seconds:
        raise CommandError("--usage-step is longer than --usage-window", "give e.g. 14d and 5m", Exit.USAGE)
    return UsageRequest(
        settings=prometheus_settings(options),
        discover=options.discover_prometheus,
        seconds=seconds,
        step=step,
        fixed=tuple(_matcher(label) for label in options.prometheus_label or ()),
    )


def _seconds(text: str, option: str) -> int:
    parts = re.findall(r"(\d+)([smhdw])", text)
    seconds = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text or not 0 < seconds <= 366 * _UNITS["d"]:
        raise CommandError(f"{option} {text}: not a duration of up to a year", "give e.g. 14d, 5m or 30s", Exit.USAGE)
    return seconds


def _matcher(label: str) -> str:
    match = _LABEL.fullmatch(label)
    if match is None:
        raise CommandError(f"--prometheus-label {label}: not KEY=VALUE", "give e.g. cluster=prod", Exit.USAGE)
    value = match[2].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{match[1]}="{value}"'
