"""The tokens of now: those of a file that may change while a server runs."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.serving.tokens import AccessToken, read_tokens

_log = logging.getLogger(__name__)


@dataclass
class TokenSource:
    """A file that cannot be read or is wrong leaves the last good tokens as they were, and this is said once.

    Whatever replaces a file or writes into it changes its inode, its size or one of its times, and so what is known of
    it; also a change of its mode, after which others might read it, does.
    """

    file: Path | None
    tokens: tuple[AccessToken, ...]
    _seen: tuple[int, ...] | None = field(default=None)

    @classmethod
    def of(cls, file: Path | None, environ: Mapping[str, str], *, variable: str) -> "TokenSource":
        """Raises `ConfigurationError` for a file that is wrong from the start."""
        # Looked at before it is read: what is written in between is seen as a change.
        seen = _look(file)
        return cls(file, tuple(read_tokens(file, environ, variable=variable)), seen)

    @property
    def is_asked_for(self) -> bool:
        """Whether nobody is served without a token: also where a file is named that has none now."""
        return self.file is not None or bool(self.tokens)

    def now(self) -> tuple[AccessToken, ...]:
        seen = _look(self.file)
        if seen != self._seen:
            self._seen = seen
            try:
                self.tokens = tuple(read_tokens(self.file, {}, variable=""))
                _log.warning("--token-file %s was read again: %d tokens", self.file, len(self.tokens))
            except ConfigurationError as error:
                _log.warning("%s; the tokens that were read before are used further", one_line(str(error)))
        return self.tokens


def _look(file: Path | None) -> tuple[int, ...] | None:
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
