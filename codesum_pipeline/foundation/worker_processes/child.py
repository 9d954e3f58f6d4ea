"""A Python process at the other end of a socket, which is not a copy of this one."""

import socket
import subprocess
import sys

_CODE = "import sys; sys.path[:] = {path!r}; from {module} import main; main({descriptor})"


def start_child(module: str) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    """Run `main(descriptor)` of a module, whose end of the socket is `descriptor`; the process, and this end.

    The child reads the end of its parent, however that ended, as the end of the socket.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        code = _CODE.format(path=sys.path, module=module, descriptor=theirs.fileno())
        process = subprocess.Popen(
            # Not from the folder that it is started in: that may be anybody's.
            [sys.executable, "-P", "-c", code],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            # An interrupt from a terminal is for this process, which passes it on.
            start_new_session=True,
        )
    return process, ours
