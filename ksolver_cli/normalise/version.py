"""Kubernetes versions, as servers and people write them."""

import re

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\D.*)?", re.ASCII | re.DOTALL)


def parse_version(text: str) -> tuple[int, int] | None:
    """Major and minor of `v1.29.3-eks-5e0fdde`, `1.29` or `1.29+`; None when the text is none of these."""
    match = _VERSION.fullmatch(text.strip())
    return None if match is None else (int(match.group(1)), int(match.group(2)))
