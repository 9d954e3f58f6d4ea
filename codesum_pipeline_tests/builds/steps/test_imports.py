"""What a build imports that calls no model."""

import subprocess
import sys


def test_the_steps_of_a_build_import_nothing_that_only_calls_to_models_need() -> None:
    code = "import sys, codesum_pipeline.builds.steps.step_list; print(*sys.modules, sep='\\n')"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"asyncio", "aiolimiter", "litellm", "httpx"}.isdisjoint(done.stdout.split())
