"""What goes wrong when a cluster is read, in two lines for people and in one word for a gap."""

from enum import StrEnum


class CollectError(Exception):
    """The cluster cannot be reached or read at all: what is wrong, and what to do. Never holds a secret."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class Failure(StrEnum):
    """Why one request failed."""

    UNREACHABLE = "unreachable"
    UNTRUSTED = "untrusted certificate"
    UNAUTHORIZED = "credentials refused"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    GONE = "continue token expired"
    TIMEOUT = "no answer in time"
    CUT_SHORT = "answer cut short"
    NOT_JSON = "answer is not JSON"
    SERVER = "server error"


class ApiError(Exception):
    """One request failed for good, after retries; `detail` is the server's word, on one line and shortened."""

    def __init__(self, failure: Failure, detail: str = "", status: int | None = None) -> None:
        super().__init__(f"{failure.value}: {detail}" if detail else failure.value)
        self.failure = failure
        self.detail = detail
        self.status = status
