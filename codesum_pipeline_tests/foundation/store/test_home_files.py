from pathlib import Path
from threading import Thread

import pytest

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.object_storage.home_files import HomeFiles
from codesum_pipeline.foundation.store.object_storage.objects import open_objects
from codesum_pipeline.source.repositories.registry import Registry


def copies(tmp_path: Path, *, number: int = 2) -> list[HomeFiles]:
    """As many machines' copies of one home."""
    url = f"memory://{tmp_path.name}/home"
    found = [HomeFiles(url, tmp_path / f"machine {place}") for place in range(number)]
    for each in found:
        each.folder.mkdir()
        each.refresh()
    return found


def entry(key: str) -> RepositoryEntry:
    return RepositoryEntry(key, f"https://example.org/{key}.git")


def test_repositories_that_two_machines_add_at_one_time_are_both_registered(tmp_path: Path) -> None:
    registries = [Registry(each.folder / "repos.yaml", each) for each in copies(tmp_path, number=4)]
    threads = [
        Thread(target=lambda place, registry: [registry.add(entry(f"r{place}-{n}")) for n in range(5)], args=(at, each))
        for at, each in enumerate(registries)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    third = HomeFiles(f"memory://{tmp_path.name}/home", tmp_path / "another machine")
    third.folder.mkdir()
    third.refresh()

    keys = [each.key for each in Registry(third.folder / "repos.yaml").entries()]
    assert keys == sorted(f"r{place}-{number}" for place in range(4) for number in range(5))


def test_a_copy_says_what_another_machine_wrote_and_forgets_what_it_deleted(tmp_path: Path) -> None:
    one, other = copies(tmp_path)
    template = Path("prompts") / "system" / "mine.md"

    def write() -> None:
        (one.folder / template).parent.mkdir(parents=True, exist_ok=True)
        (one.folder / template).write_text("Be brief.")

    one.edit(one.folder / "prompts", write)
    other.refresh()
    assert (other.folder / template).read_text() == "Be brief."

    one.edit(one.folder / "prompts", (one.folder / template).unlink)
    other.refresh()
    assert not (other.folder / template).exists()


def test_an_edit_that_fails_leaves_bucket_and_copy_as_they_were(tmp_path: Path) -> None:
    one, other = copies(tmp_path)
    registry = Registry(one.folder / "repos.yaml", one)
    registry.add(entry("first"))

    with pytest.raises(ConfigurationError):
        registry.remove("second")
    other.refresh()

    assert (other.folder / "repos.yaml").read_bytes() == (one.folder / "repos.yaml").read_bytes()


def test_objects_that_are_no_files_of_a_home_are_not_copied(tmp_path: Path) -> None:
    (one,) = copies(tmp_path, number=1)
    for name in (
        "home/.token",
        "home/warehouse/x.yaml",
        "home/prompts/.hidden/a.md",
        "home/run.sh",
        "other/repos.yaml",
    ):
        open_objects(one.url).put(name, b"not a file of a home")

    one.refresh()

    assert [path.name for path in one.folder.iterdir() if not path.name.startswith(".")] == []


def test_settings_of_a_home_in_a_bucket_are_read_from_the_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    url = f"memory://{tmp_path.name}/team"
    open_objects(url).put("home/codesum.toml", b"keep_versions = 7\n")

    settings = load_settings({"home": url})

    assert (settings.bucket, settings.address, settings.keep_versions) == (url, url, 7)
    assert settings.home.is_relative_to(tmp_path / "codesum" / "homes")
    assert settings.home.stat().st_mode & 0o777 == 0o700


def test_a_copy_that_others_can_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    url = f"memory://{tmp_path.name}/open"
    load_settings({"home": url}).home.chmod(0o777)

    with pytest.raises(ConfigurationError, match="can be written by others"):
        load_settings({"home": url})
