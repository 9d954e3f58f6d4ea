"""Files of one commit, as the parser saw them."""

import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.languages import TEXT, language_of_first_line, language_of_path


def read_file(git_dir: Path, *, commit: str, path: str, timeout_s: float) -> str:
    """The text of a file, its lines ended by line feeds.

    Raises `RepositoryUnavailable` where the mirror does not have it, `SkippedFile` for what is no text.
    """
    data = run_git(["cat-file", "blob", f"{commit}:{path}"], git_dir=git_dir, timeout_s=timeout_s)
    return decode_text(data, language_of_path(path) or language_of_first_line(data) or TEXT)


def read_files(git_dir: Path, paths: Sequence[str], *, commit: str, timeout_s: float) -> dict[str, str]:
    """The texts of some files of a commit, by one process: those that the mirror has and that are text."""
    # The process takes a name a line; what has a line feed in its name is left out.
    asked = [path for path in paths if "\n" not in path]
    data = "".join(f"{commit}:{path}\n" for path in asked).encode("utf-8", "surrogateescape")
    answers = io.BytesIO(run_git(["cat-file", "--batch"], git_dir=git_dir, timeout_s=timeout_s, data=data))
    texts = {}
    for path in asked:
        header = answers.readline().split()
        if len(header) != 3 or header[1] not in (b"blob", b"tree", b"commit", b"tag"):
            continue
        content = answers.read(int(header[2]) + 1)[:-1]
        language = language_of_path(path) or language_of_first_line(content) or TEXT
        with suppress(SkippedFile):
            texts[path] = decode_text(content, language)
    return texts
