"""One file of one commit, as the parser saw it."""

from pathlib import Path

from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.languages import TEXT, language_of_first_line, language_of_path


def read_file(git_dir: Path, *, commit: str, path: str, timeout_s: float) -> str:
    """The text of a file, its lines ended by line feeds.

    Raises `RepositoryUnavailable` where the mirror does not have it, `SkippedFile` for what is no text.
    """
    data = run_git(["cat-file", "blob", f"{commit}:{path}"], git_dir=git_dir, timeout_s=timeout_s)
    return decode_text(data, language_of_path(path) or language_of_first_line(data) or TEXT)
