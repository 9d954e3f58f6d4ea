"""A wheel built from the tree works outside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_a_wheel_indexes_and_searches_outside_the_tree(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(tmp_path / "dist"), str(ROOT)], check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(tmp_path / "site"), str(wheel)], check=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "CODESUM_HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("-c", "import codesum_pipeline; print(codesum_pipeline.__file__)").startswith(str(tmp_path / "site"))
    run("-m", "codesum_pipeline.cli", "index", str(repo.path))
    assert "shop/cart.py" in run("-m", "codesum_pipeline.cli", "search", "the cart of a customer")
    for kind in ("system", "instruction", "digest_system", "digest_instruction"):
        assert run("-m", "codesum_pipeline.cli", "prompts", "show", kind, "default")
    assert (tmp_path / "home" / "dagster" / "dagster.yaml").exists()
