"""Pods that take seconds to end: a finalizer holds them, and this lets go of it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.live.executed.world import LINGER
from tests.live.plane import Plane

SECONDS = 2.0
_LET_GO = {"metadata": {"finalizers": None}}
_HEADERS = {"Content-Type": "application/merge-patch+json"}


@contextmanager
def lingering(plane: Plane) -> Iterator[None]:
    """While this runs, pods with the finalizer end some seconds after they were told to."""
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(plane, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _watch(plane: Plane, done: threading.Event) -> None:
    told: dict[str, float] = {}
    with plane.client() as client:
        while not done.wait(0.5):
            for pod in client.get("/api/v1/pods").raise_for_status().json()["items"]:
                meta = pod["metadata"]
                if "deletionTimestamp" not in meta or LINGER not in meta.get("finalizers", ()):
                    continue
                if time.monotonic() - told.setdefault(meta["uid"], time.monotonic()) >= SECONDS:
                    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
                    client.patch(path, json=_LET_GO, headers=_HEADERS)
