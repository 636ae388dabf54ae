"""Whole lists of a kind, page by page.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks: a list is
consistent as long as its continue token lives (410 afterwards), so that an expired list begins anew; after that has
happened twice the list is asked for in one piece, as client-go's pager does.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.discovery import Served
from ksolver_cli.collect.errors import ApiError, Failure

PAGE = 500
_RESTARTS = 2

Item = dict[str, object]


@dataclass(frozen=True, slots=True)
class Page:
    """Some objects of a list, where `first` says that what came before is void; how many there are in all, if told."""

    items: list[Item]
    first: bool
    total: int | None


class Lists:
    """Reads lists through a client. Methods raise ApiError when a list cannot be had whole."""

    def __init__(self, client: ApiClient, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._seconds = seconds
        self._clock = clock

    def pages(self, served: Served, namespace: str | None = None) -> Iterator[Page]:
        """Yield the pages of a list; one that is `first` but not the first begins it anew."""
        deadline = self._clock() + self._seconds
        for attempt in range(_RESTARTS + 1):
            try:
                yield from self._attempt(served, namespace, deadline, limit=PAGE if attempt < _RESTARTS else None)
            except ApiError as error:
                if error.failure is not Failure.GONE or attempt == _RESTARTS:
                    raise
                continue
            return

    def _attempt(self, served: Served, namespace: str | None, deadline: float, limit: int | None) -> Iterator[Page]:
        path, token, seen = served.path(namespace), "", 0
        while True:
            query = {"limit": str(limit)} if limit is not None else {}
            if token:
                query["continue"] = token
            document = self._client.get(path, query, deadline)
            items, metadata = _parts(document, path)
            before, token = token, _text(metadata.get("continue"))
            if token and token == before:
                raise ApiError(Failure.CUT_SHORT, f"{path}: the list does not go on behind its continue token")
            left = metadata.get("remainingItemCount")
            total = seen + len(items) + left if isinstance(left, int) else None
            yield Page(items, seen == 0, total if token else seen + len(items))
            seen += len(items)
            if not token:
                return


def _parts(document: object, path: str) -> tuple[list[Item], Mapping[str, object]]:
    """The items and the list's metadata. `items` may be null; anything else that is no list is not an answer."""
    if not isinstance(document, dict) or not str(document.get("kind") or "").endswith("List"):
        raise ApiError(Failure.NOT_JSON, f"{path} is not a list")
    items, metadata = document.get("items"), document.get("metadata")
    if items is None:
        items = []
    if not isinstance(items, list):
        raise ApiError(Failure.NOT_JSON, f"{path}: items is not a list")
    return [item for item in items if isinstance(item, dict)], metadata if isinstance(metadata, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
