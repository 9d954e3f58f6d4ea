from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.source.files.content import read_file


def test_a_file_is_read_as_it_stood_at_a_commit(git_repo) -> None:
    repo = git_repo(
        {"src/a.py": "old = 1\r\n", "-x\ny.py": "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1")}
    )
    commit = repo.git("rev-parse", "HEAD").strip()
    repo.commit({"src/a.py": "new = 2\n"}, message="change")

    def read(path: str) -> str:
        return read_file(repo.path / ".git", commit=commit, path=path, timeout_s=60)

    assert read("src/a.py") == "old = 1\n"
    assert read("-x\ny.py") == "# -*- coding: latin-1 -*-\nname = 'é'\n"


def test_what_is_not_there_or_is_no_text_is_said(git_repo, tmp_path: Path) -> None:
    repo = git_repo({"a.bin": b"\0\1"})

    with pytest.raises(RepositoryUnavailable, match="nowhere.py"):
        read_file(repo.path / ".git", commit="HEAD", path="nowhere.py", timeout_s=60)
    with pytest.raises(RepositoryUnavailable, match="git cat-file failed"):
        read_file(tmp_path / "nowhere.git", commit="HEAD", path="a.bin", timeout_s=60)
    with pytest.raises(SkippedFile, match="binary"):
        read_file(repo.path / ".git", commit="HEAD", path="a.bin", timeout_s=60)
