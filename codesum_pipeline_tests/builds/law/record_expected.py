"""Writes `script_expected.json` anew: read its diff line by line before you commit it."""

import json
import tempfile
from pathlib import Path

from codesum_pipeline_tests.builds.law.test_law import EXPECTED, scripted_outcomes

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = scripted_outcomes(Path(folder))
    EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
