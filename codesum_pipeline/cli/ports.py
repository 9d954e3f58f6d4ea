"""Whether a server can listen where a person wants it, found out before it is started."""

import errno
import socket

from codesum_pipeline.model.errors import ConfigurationError

# Ports after the wanted one that are tried before the system names any.
_NEAR = 20
_LARGEST = 65_535


def check_free(host: str, port: int) -> None:
    """Raise `ConfigurationError`, with a command that works, where nobody can listen there."""
    try:
        _listen(host, port)
    except socket.gaierror as error:
        raise ConfigurationError(f"host {host!r} is not an address: {error.strerror}: leave out --host") from error
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigurationError(f"host {host!r} is not an address of this machine: leave out --host") from error
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
        named = "" if host == "127.0.0.1" else f" --host {host}"
        free = _free_port(host, port)
        raise ConfigurationError(f"port {port} {reason}; `codesum dev{named} --port {free}`") from error


def _free_port(host: str, port: int) -> int:
    start = port if port > 1024 else 3000
    for near in range(start, min(start + _NEAR, _LARGEST + 1)):
        try:
            return _listen(host, near)
        except OSError:
            continue
    return _listen(host, 0)


def _listen(host: str, port: int) -> int:
    """Listen for a moment; the port."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind) as server:
        # As the web server does: a port whose last connections are still closing can be had.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        server.listen()
        return int(server.getsockname()[1])
