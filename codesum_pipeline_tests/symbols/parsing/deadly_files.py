"""A parser that crashes on one kind of file, as a fault in a grammar's C code would."""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codesum_pipeline.symbols.parsing.batches import ParsedBatch, ParseFiles, SourceText


@dataclass(frozen=True, slots=True)
class Deadly:
    """Parses as `parse` does, and dies of files that say `crash`."""

    parse: ParseFiles

    def __call__(self, files: Sequence[SourceText]) -> ParsedBatch:
        if any(file.data == b"crash\n" for file in files):
            os.kill(os.getpid(), signal.SIGSEGV)
        return self.parse(files)

    def here(self, files: Sequence[SourceText]) -> ParsedBatch:
        return self(files)

    def rescue(self, files: Sequence[SourceText], again: Callable[[Sequence[SourceText]], ParsedBatch]) -> ParsedBatch:
        return self.parse.rescue(files, again)
