"""A build that kills itself: `python -m … HOME REPO NUMBER before|after [MODULE:NAME=SIZE …]`.

SIGKILL comes right before or right after the NUMBER-th file (or link, or
folder) is put in place, which is when a build is most fragile.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_lease
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.sizes import set_sizes


def arm(number: int, moment: str) -> Callable[[], int]:
    """Count every rename of this process and kill it at the `number`-th; the count so far."""
    count = 0

    def armed(rename: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == number and moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = rename(*arguments, **named)
            if count == number and moment == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counted

    os.replace = armed(os.replace)
    os.rename = armed(os.rename)
    return lambda: count


if __name__ == "__main__":
    home, location, number, moment, *sizes = sys.argv[1:]
    set_sizes(sizes)
    workspace = workspace_of(open_home(Path(home)), RepositoryEntry("shop", location), run_id="killed")
    counted = arm(int(number), moment)
    with hold_lease(workspace.layout.state("shop"), key="shop", run_id="killed"):
        build(workspace)
    sys.stdout.write(f"{counted()}\n")
