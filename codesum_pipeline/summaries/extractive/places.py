"""What a path is about, in words."""

from functools import lru_cache

from codesum_pipeline.summaries.extractive.plain import printable
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import spoken

# Folders that every repository has: they do not say what a file is about.
_COMMON_FOLDERS = word_set("src lib source sources python pkg packages main app code core internal impl")
_INDEX_STEMS = word_set("__init__ index main mod __main__ lib")


_TEST_PARTS = word_set("test tests testing spec specs unit unittests conftest")


@lru_cache(maxsize=4096)
def tested_area(path: str) -> str:
    """What a test file is about: `tests/auth/test_login.py` gives `login in auth`."""
    parts = [part for part in path.split("/") if part.lower() not in _TEST_PARTS]
    if not parts:
        return area_of(path)
    stem, dot, suffix = parts[-1].partition(".")
    bare = stem.removeprefix("test_").removesuffix("_test").removeprefix("tests_")
    if bare.lower() in _TEST_PARTS or not bare:
        return area_of("/".join(parts[:-1])) if len(parts) > 1 else "the code"
    return area_of("/".join([*parts[:-1], f"{bare}{dot}{suffix}"]))


@lru_cache(maxsize=4096)
def area_of(path: str) -> str:
    """`src/auth/login.py` gives `login in auth`."""
    parts = [part for part in path.split("/") if part not in (".", "")]
    if not parts:
        return "the repository"
    stem = parts[-1].split(".")[0] or parts[-1].strip(".")
    folders = [part for part in parts[:-1] if part.lower() not in _COMMON_FOLDERS]
    names = [stem] if stem not in _INDEX_STEMS else []
    names.extend(reversed(folders[-2:]))
    said = list(dict.fromkeys(words for name in names if (words := spoken(printable(name).strip("_")))))
    if not said:
        return "the top of the package" if stem == "__init__" else printable(parts[-1]) or "the repository"
    return said[0] if len(said) == 1 else f"{said[0]} in {'/'.join(reversed(said[1:]))}"
