"""Two releases of codesum that work for one home: the newer one publishes, the older one harms nothing and says so."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.indexes.publishing.releases import Release
from codesum_pipeline_tests.support.commands import run_codesum
from codesum_pipeline_tests.support.other_release import install_release
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

_EXTRACTIVE = "evidence/extractive/composing.py"
_ALGORITHM = {_EXTRACTIVE: (r'EXTRACTIVE_VERSION = "\d+"', 'EXTRACTIVE_VERSION = "999"')}
_SCHEMAS = {
    "foundation/store/schemas.py": (r"(?m)^SCHEMA_VERSION = \d+", "SCHEMA_VERSION = 99"),
    "indexes/file_formats/version_folder.py": (r"(?m)^INDEX_SCHEMA_VERSION = \d+", "INDEX_SCHEMA_VERSION = 99"),
}


class Releases:
    """A repository, a home, and this release beside a newer one."""

    def __init__(self, folder: Path, newer: dict[str, str]) -> None:
        self.folder, self.newer = folder, newer
        self.repo = GitRepo.create(folder / "shop", SHOP)
        self.home = folder / "home"

    def call(self, *arguments: object, newer: bool = False) -> subprocess.CompletedProcess[str]:
        environment = self.newer if newer else {}
        return run_codesum("--home", self.home, *arguments, cwd=self.folder, env=environment)

    def index(self, *flags: str, newer: bool = False) -> subprocess.CompletedProcess[str]:
        return self.call("index", self.repo.path, *flags, newer=newer)

    def published(self) -> dict[str, str]:
        """What is published: the digest of the version, and its files as they are."""
        name = HomeLayout(self.home).published("shop")
        files = {path.name: str(path.stat().st_mtime_ns) for path in name.iterdir() if path.is_file()}
        return {"version": str(name.readlink()), **files}


@pytest.fixture(
    params=[
        pytest.param(_ALGORITHM, id="another writer", marks=pytest.mark.slow),
        pytest.param(_SCHEMAS, id="other tables"),
    ]
)
def releases(tmp_path: Path, request: pytest.FixtureRequest) -> Releases:
    (tmp_path / "newer").mkdir()
    return Releases(tmp_path, install_release(tmp_path / "newer", "99.0.0", request.param))


def test_in_turn_the_older_one_is_refused_and_leaves_everything_as_it_is(releases: Releases) -> None:
    first = releases.index()
    upgraded = releases.index("--rebuild", newer=True)
    published = releases.published()
    tables = {path.name: path.stat().st_mtime_ns for path in releases.home.glob("warehouse/**/*.parquet")}
    refused = [releases.index(), releases.index("--rebuild")]
    releases.repo.commit({"new.py": "def new():\n    return 1\n"})
    refused.append(releases.index())

    assert (first.returncode, upgraded.returncode) == (0, 0), first.stderr + upgraded.stderr
    for each in refused:
        assert each.returncode != 0
        assert "upgrade codesum on this machine" in each.stderr
    assert releases.published() == published
    assert {path.name: path.stat().st_mtime_ns for path in releases.home.glob("warehouse/**/*.parquet")} == tables
    assert releases.index(newer=True).returncode == 0
    assert releases.published() != published


def test_at_once_the_newer_one_is_what_stays(releases: Releases) -> None:
    assert releases.index().returncode == 0
    releases.repo.commit({"new.py": "def new():\n    return 1\n"})
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(releases.index, *(["--rebuild"] if newer else []), newer=newer) for newer in (True, False)]
    done = [call.result() for call in calls]
    found = releases.call("search", "new", "--json", newer=True)

    assert done[0].returncode == 0, done[0].stderr
    assert done[1].returncode == 0 or "upgrade codesum on this machine" in done[1].stderr
    assert "new.py" in found.stdout, found.stderr
    assert json.loads((HomeLayout(releases.home).versions("shop") / "release.json").read_text())["codesum"] == "99.0.0"


def test_one_goes_back_by_force_and_then_the_older_one_builds_as_before(releases: Releases) -> None:
    assert releases.index(newer=True).returncode == 0
    back = releases.index("--rebuild", "--force")
    releases.repo.commit({"new.py": "def new():\n    return 1\n"})

    assert back.returncode == 0, back.stderr
    assert releases.index().returncode == 0
    assert "new.py" in releases.call("search", "new", "--json").stdout


@pytest.mark.parametrize(
    ("one", "other", "is_older"),
    [
        pytest.param(Release("1.9.0", 3, 8), Release("1.10.0", 3, 8), True, id="numbers, not letters"),
        pytest.param(Release("1.0.0", 3, 8), Release("1.0.0", 3, 8), False, id="the same"),
        pytest.param(Release("1.0.0", 3, 8), Release("1.0.0", 4, 8), True, id="older tables"),
        pytest.param(Release("1.0.0", 3, 8), Release("1.0.0", 3, 9), True, id="an older index"),
        pytest.param(Release("", 3, 8), Release("1.0.0", 3, 8), False, id="run from its sources"),
        pytest.param(Release("1.0.0", 3, 8), Release(), False, id="nothing was published"),
    ],
)
def test_which_release_is_older(one: Release, other: Release, is_older: bool) -> None:
    assert one.is_older_than(other) is is_older
