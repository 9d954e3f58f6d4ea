"""What a real model answered when a small repository was indexed, for tests without one.

`python -m codesum_pipeline_tests.texts.llm.recorded_run` records it anew, with the packages that `make model` installs.
That is due where the shape of answers or of requests has changed, or a template in `support/shapes.py`: a replay finds
no answers then.
"""

import json
import tempfile
from pathlib import Path

from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline_tests.support.commands import run_codesum
from codesum_pipeline_tests.support.real_model import RealModel
from codesum_pipeline_tests.support.shapes import KEY_ENV, Shapes

RECORDING = Path(__file__).with_name("recorded_run.json")
# A server answers under the path of its model's file as it was given; a whole path would be one of the machine that
# records.
ECHO = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main() -> None:
    """Index the repository with the real model, and put its answers into one file."""
    with tempfile.TemporaryDirectory() as place, RealModel(Path(ECHO)) as model:
        folder = Path(place)
        shapes = Shapes(folder)
        shapes.set(echoed=ECHO, api_base=model.base, backend=BackendName.RECORD, recording="answers")
        done = run_codesum("--home", shapes.home, "index", shapes.repo.path, cwd=folder, env={KEY_ENV: "none"})
        files = sorted((shapes.home / "answers").glob("*.json"))
        if not files:
            raise SystemExit(f"nothing was recorded:\n{done.stdout}{done.stderr}")
        entries = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    write_text_atomically(RECORDING, json.dumps({"entries": entries}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
