"""Files that the whole world names alike, and what they are for."""

from fnmatch import fnmatchcase

from codesum_pipeline.summaries.documentation.word_lists import word_table

_BY_NAME = word_table("known_files")
_BY_PATH = word_table("known_paths")


def known_purpose(path: str) -> str:
    """What a file with this path is for, or empty where its name does not tell."""
    name = path.rpartition("/")[2].lower()
    for pattern, purpose in _BY_PATH.items():
        if fnmatchcase(f"/{path.lower()}", pattern):
            return purpose
    stem = name.partition(".")[0].replace("-", "_")
    is_text = name.rpartition(".")[2] in (stem, "md", "rst", "txt")
    return _BY_NAME.get(name) or (_BY_NAME.get(stem, "") if is_text else "")
