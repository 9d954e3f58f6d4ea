"""A process that calls one hook: `python -m codesum_pipeline.notifications.delivery.hook_process HANDLE`.

It reads the request from its standard input and writes the answer to the handle.
"""

import asyncio
import inspect
import json
import os
import sys
from importlib.metadata import EntryPoint
from typing import Any

from codesum_pipeline.foundation.data_model import digest_record
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.digest_record import SummaryResult

# Where hooks that were written for earlier versions import the class that they are called with.
_EARLIER_PLACES = ("codesum_pipeline.model", "codesum_pipeline.model.digests")


def main() -> None:
    """Call the hook and say what came of it."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    sys.modules.update(dict.fromkeys(_EARLIER_PLACES, digest_record))
    answer: dict[str, Any] = {}
    try:
        answer["value"] = _call(request["hook"], request["result"])
    except Exception as error:
        answer["problem"] = f"{type(error).__name__}: {error}"
        sys.excepthook(type(error), error, error.__traceback__)
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as answers:
        answers.write(json.dumps(answer))


def _call(hook: str, kept: dict[str, Any]) -> object:
    found = EntryPoint(name="hook", value=hook, group="").load()(convert(kept, SummaryResult))
    value = asyncio.run(_awaited(found)) if inspect.isawaitable(found) else found
    # Any other value than True, False and None is described by its type.
    return value if value is None or isinstance(value, bool) else f"a {type(value).__name__}"


async def _awaited(found: Any) -> object:
    return await found


if __name__ == "__main__":
    main()
