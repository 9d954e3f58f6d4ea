"""A server of the search page as long as a block runs."""

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from codesum_pipeline_tests.cli.calling import COMMAND, environment


@contextmanager
def serving(home: Path, folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """Its address."""
    server = subprocess.Popen(
        [*COMMAND, "--home", str(home), "web", "--port", "0", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(env),
    )
    with server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            found = re.search(r"http://\S+", said)
            assert found, said + server.stderr.read()
            yield found[0]
        finally:
            server.send_signal(signal.SIGTERM)
