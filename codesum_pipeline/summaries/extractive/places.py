"""Where something stands, in words."""

from functools import lru_cache

from codesum_pipeline.summaries.documentation.plain import printable
from codesum_pipeline.summaries.extractive.words import spoken

# Their folder says what such files are about.
_ENTRIES = frozenset(("__init__", "index", "mod", "__main__", "lib", "init"))


@lru_cache(maxsize=4096)
def place_of(path: str) -> str:
    """The last folder and the file in words: `src/auth/http_login.py` gives `auth/HTTP login`."""
    parts = [part for part in path.split("/") if part not in (".", "")]
    stem = stem_of(parts[-1]) if parts else ""
    names = parts[-3:-1] if stem in _ENTRIES and len(parts) > 1 else [*parts[-2:-1], stem]
    said = [words for name in names if (words := spoken(printable(name).strip("_."), written_out=False))]
    return "/".join(said) or "the repository"


def stem_of(name: str) -> str:
    """A file's name without its extension: `help.wrap.test.js` gives `help.wrap.test`."""
    bare = name.strip(".")
    return bare.rpartition(".")[0].removesuffix(".d") or bare or name


def name_of_file(path: str) -> str:
    """A file's name in words, with its folder's where that says more."""
    folder, _, name = path.rpartition("/")
    stem = stem_of(name)
    words = spoken(printable(stem).strip("_"), written_out=False) or printable(name)
    return f"{words} of {place_of(folder)}" if stem in _ENTRIES and folder else words


def folder_of(path: str) -> str:
    """The folder that a path stands in, as a sentence of its own."""
    folder = path.rpartition("/")[0]
    return f"Part of folder {place_of(folder)}." if folder else "Part of the repository's root folder."
