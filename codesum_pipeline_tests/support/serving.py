"""A server of ours as long as a block runs."""

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from codesum_pipeline_tests.support.commands import COMMAND, environment


@contextmanager
def served(home: Path, folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address that `codesum` with these arguments says it serves at."""
    server = subprocess.Popen(
        [*COMMAND, "--home", str(home), *arguments],
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
            line = server.stderr.readline()
            found = re.search(r"http://\S+", line)
            assert found, line + server.stderr.read()
            yield found[0]
        finally:
            server.send_signal(signal.SIGTERM)
