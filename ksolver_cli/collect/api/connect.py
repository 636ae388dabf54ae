"""An HTTP client for one API server: trust, client certificate, proxy."""

import os
import ssl
import tempfile

import httpx

from ksolver_cli.collect.access.settings import Access, KeyPair, Trust
from ksolver_cli.collect.errors import CollectError

_CONNECT_SECONDS = 15.0


def http_client(access: Access, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """Return a client for a server; raises CollectError. The environment's proxies and netrc are not looked at: what
    of them holds is in `access` already.
    """
    context = ssl_context(access.trust, access.credentials.key_pair(), access.name)
    headers = httpx.Headers([(b"Accept", b"application/json"), (b"User-Agent", b"ksolver"), *_pairs(access)])
    timeout = httpx.Timeout(60.0, connect=_CONNECT_SECONDS)
    try:
        return httpx.Client(
            verify=context,
            proxy=_proxy(access.proxy) if transport is None else None,
            headers=headers,
            timeout=timeout,
            trust_env=False,
            transport=transport,
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        what = f"the proxy of cluster {access.name} cannot be used"
        raise CollectError(what, "give an http:// or https:// proxy (proxy-url, HTTPS_PROXY)") from error


def _proxy(url: str | None) -> httpx.Proxy | None:
    return httpx.Proxy(url) if url else None


def _pairs(access: Access) -> list[tuple[bytes, bytes]]:
    found: list[tuple[bytes, bytes]] = []
    for name, values in access.headers.items():
        # As kubectl sends them: names of people are not always ASCII.
        found += [(name.encode(), value.encode()) for value in ((values,) if isinstance(values, str) else values)]
    return found


def ssl_context(trust: Trust, pair: KeyPair | None, name: str = "") -> ssl.SSLContext:
    """Return the context of a trust and a client certificate; raises CollectError."""
    try:
        context = ssl.create_default_context(cadata=_pem(trust.authority) if trust.authority else None)
    except (ssl.SSLError, ValueError) as error:
        what = f"the certificate authority of cluster {name} is not a PEM certificate"
        raise CollectError(what, "correct certificate-authority in the kubeconfig") from error
    # Authorities that old cluster tools made lack extensions that newer Pythons insist on.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", ssl.VerifyFlags(0))
    if trust.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if pair is not None:
        _load_pair(context, pair)
    return context


def _pem(authority: bytes) -> str:
    return authority.decode("ascii", "ignore")


def _load_pair(context: ssl.SSLContext, pair: KeyPair) -> None:
    # The library reads key pairs from files only: one that only we can read, gone at once.
    handle, path = tempfile.mkstemp(prefix="ksolver-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(pair[0].rstrip(b"\n") + b"\n" + pair[1])
        context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        what = "the client certificate and its key do not fit, or are not PEM"
        raise CollectError(what, "correct client-certificate and client-key in the kubeconfig") from error
    finally:
        os.unlink(path)


def _no_password() -> str:
    raise ValueError("an encrypted key needs a password, which a kubeconfig cannot hold")
