"""A worker whose parser crashes on one file and gets stuck in another, as a fault in a grammar's C code would."""

import os
import signal
import time
from collections.abc import Sequence

from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.parsing.batches import Parsed, SourceText, parse_batch
from codesum_pipeline.parsing.worker import main


def parse(files: Sequence[SourceText], hash_policy: HashPolicy) -> Parsed:
    for file in files:
        if file.data == b"crash\n":
            os.kill(os.getpid(), signal.SIGSEGV)
        if file.data == b"hang\n":
            time.sleep(600)
    return parse_batch(files, hash_policy)


if __name__ == "__main__":
    main(parse)
