"""GPU workloads on a class of card that is more than they use."""

from collections.abc import Sequence

from rich.console import Console

from ksolver_cli.domain.report.gpu_class import WrongGpuClass
from ksolver_cli.render.amounts import monthly
from ksolver_cli.render.console import paragraph
from ksolver_cli.render.safe import plain

_GIB_IN_MIB = 1024
_LIST_CURRENCY = "USD"


def render_gpu_classes(console: Console, found: Sequence[WrongGpuClass]) -> None:
    """Print the advice, the largest difference first, and what it leaves out of account."""
    if not found:
        return
    console.print()
    console.print(f"GPUs of the wrong class: {len(found)}", style="bold")
    for advice in found:
        paragraph(console, _words(advice), 2, hang=2)
        if advice.blocked_by:
            paragraph(console, f"blocked by: {plain('; '.join(advice.blocked_by))}", 4, hang=2)
    console.print("  At list price and by memory alone: speed is not compared.", style="dim")


def _words(advice: WrongGpuClass) -> str:
    return (
        f"{plain(advice.workload)}: uses {advice.peak_mib / _GIB_IN_MIB:.1f} GiB of {advice.gpu} "
        f"({advice.observations} observations, {_some(advice.gpus, 'GPU')} in {_some(advice.pods, 'pod')}); "
        f"fits {advice.fits_gpu} "
        f"({advice.instance_type}), {monthly(advice.less_micros, _LIST_CURRENCY)} a month less"
    )


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
