"""Which proxy leads to a server, by the rules of Go's net/http, which kubectl follows.

Source: https://pkg.go.dev/golang.org/x/net/http/httpproxy: HTTPS_PROXY, HTTP_PROXY and NO_PROXY (or in lower case);
NO_PROXY lists hosts (with their subdomains), `.domains`, addresses, networks and `*`, each with an optional port;
this machine itself is never reached through a proxy.
"""

import ipaddress
from urllib.parse import urlsplit

from ksolver_cli.collect.access.settings import Environment

_PORTS = {"http": 80, "https": 443}


def proxy_for(server: str, environment: Environment) -> str | None:
    """Return the URL of the proxy for a server's URL, None for a direct connection."""
    parts = urlsplit(server)
    host, port = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme, 443)
    name = "HTTPS_PROXY" if parts.scheme == "https" else "HTTP_PROXY"
    proxy = _setting(environment, name)
    if not proxy or _is_local(host) or _excepted(host, port, _setting(environment, "NO_PROXY")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _setting(environment: Environment, name: str) -> str:
    return environment.get(name) or environment.get(name.lower()) or ""


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None


def _is_local(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _excepted(host: str, port: int, listed: str) -> bool:
    return any(_matches(entry.strip().lower(), host, port) for entry in listed.split(",") if entry.strip())


def _matches(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    address = _address(host)
    if "/" in entry:
        return address is not None and _in_network(address, entry)
    name, colon, wanted = entry.rpartition(":")
    if colon and wanted.isdigit() and (":" not in name or name.startswith("[")):
        if int(wanted) != port:
            return False
        entry = name
    if address is not None:
        return _address(entry) == address
    plain = entry.removeprefix("*")
    return host.endswith(plain) if plain.startswith(".") else host == plain or host.endswith(f".{plain}")


def _in_network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, text: str) -> bool:
    try:
        return address in ipaddress.ip_network(text, strict=False)
    except (ValueError, TypeError):
        return False
