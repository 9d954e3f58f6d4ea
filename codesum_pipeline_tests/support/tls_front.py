"""A server's https side: it takes connections with a certificate and passes their bytes on to a port without one."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def tls_front(port: int, certificate: Path) -> Iterator[str]:
    """The https address of a server on a port of this machine; `certificate` is the folder of `make_certificate`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")

    class Front(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            # A client that does not trust the certificate ends the handshake.
            with (
                suppress(OSError),
                context.wrap_socket(self.request, server_side=True) as client,
                socket.create_connection(("127.0.0.1", port)) as behind,
            ):
                back = threading.Thread(target=_pass_on, args=(behind, client), daemon=True)
                back.start()
                _pass_on(client, behind)
                back.join()

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Front)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
