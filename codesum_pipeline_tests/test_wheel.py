"""A wheel built from the tree has all that it needs, is installed by pip, and works outside the tree."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

ROOT = Path(__file__).parent.parent
LEFT_OUT = [line for line in (ROOT / "without-torch.txt").read_text().split("\n") if line and line[0] != "#"]
Codesum = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel and what pip installs with it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    _pip(folder / "env", "install", "-c", str(ROOT / "constraints.txt"), str(wheel))
    return folder / "env"


def _pip(environment: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--python", environment, "-q", *arguments], check=True)


@pytest.fixture
def codesum(environment: Path, tmp_path: Path) -> Codesum:
    """The installed command, with a home of its own, outside of any checkout."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return subprocess.run(
            [environment / "bin" / "codesum", *arguments],
            cwd=tmp_path,
            env={**given, "CODESUM_HOME": str(tmp_path / "home"), **variables},
            capture_output=True,
            text=True,
        )

    return run


def _assert_main_job(codesum: Codesum, folder: Path) -> None:
    repo = GitRepo.create(folder / "shop", SHOP)
    indexed = codesum("index", str(repo.path))
    assert indexed.returncode == 0, indexed.stderr
    assert "shop/cart.py" in codesum("search", "the cart of a customer").stdout
    assert "up to date" in codesum("status").stdout


@pytest.mark.slow
def test_an_installed_wheel_does_the_main_job_outside_the_tree(codesum: Codesum, tmp_path: Path) -> None:
    _assert_main_job(codesum, tmp_path)

    for kind in ("system", "instruction", "digest_system", "digest_instruction"):
        assert codesum("prompts", "show", kind, "default").stdout
    assert (tmp_path / "home" / "dagster" / "dagster.yaml").exists()


# The last of this file, since it changes the environment.
@pytest.mark.slow
def test_without_torch_all_but_its_embedders_works(environment: Path, codesum: Codesum, tmp_path: Path) -> None:
    _pip(environment, "uninstall", "-y", *LEFT_OUT)

    _assert_main_job(codesum, tmp_path)
    (tmp_path / "model").mkdir()
    refused = codesum("search", "cart", CODESUM_EMBEDDER=str(tmp_path / "model"))
    assert refused.returncode == 2
    assert "sentence-transformers, which is not installed: in a checkout, `pip install" in refused.stderr
