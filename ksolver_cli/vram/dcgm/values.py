"""Values of framebuffer metrics: MiB, and what DCGM sends when it has no value."""

import math

USED = ("DCGM_FI_DEV_FB_USED", "dcgm_fi_dev_fb_used", "dcgm_fb_used")
"""Names of *framebuffer used*: today's, `--use-old-namespace` of dcgm-exporter 2, and the 1.x compatibility names."""

FREE = ("DCGM_FI_DEV_FB_FREE", "dcgm_fi_dev_fb_free", "dcgm_fb_free")
RESERVED = ("DCGM_FI_DEV_FB_RESERVED", "dcgm_fi_dev_fb_reserved", "dcgm_fb_reserved")
TOTAL = ("DCGM_FI_DEV_FB_TOTAL", "dcgm_fi_dev_fb_total", "dcgm_fb_total")

# DCGM_INT32_BLANK of dcgm_structs.h is 0x7ffffff0; the 64-bit and floating-point blanks are larger still.
_LOWEST_BLANK = 0x7FFFFFF0


def mib(value: float | None) -> float | None:
    """Return a framebuffer value in MiB; None where DCGM says *no value* (its blanks), or it is no amount at all."""
    if value is None or not math.isfinite(value) or not 0 <= value < _LOWEST_BLANK:
        return None
    return value
