"""What a file hands on, as one short phrase."""

from collections.abc import Sequence

from codesum_pipeline.model.symbols import Reexport
from codesum_pipeline.summaries.documentation.plain import printable
from codesum_pipeline.summaries.extractive.naming import fact, shortened

_MAX_NAMES = 8
_MAX_SOURCES = 3
_ALL = "*"
_HEADERS = ("h", "hh", "hpp", "hxx", "inl")
_MODULES = ("cjs", "js", "jsx", "lua", "mjs", "mts", "ts", "tsx", "zig")


def reexported(reexports: Sequence[Reexport]) -> str:
    """`Re-exports X, Y; all of z.`; empty without any. Where all names come from one module, it says which."""
    whole = [_short(one.source) for one in reexports if one.name == _ALL]
    sources = dict.fromkeys(_short(one.source) for one in reexports if one.name != _ALL and one.original is not None)
    said = shortened((printable(one.name) for one in reexports if one.name not in (_ALL, "default")), _MAX_NAMES)
    if len(sources) == 1 and (source := next(iter(sources))):
        said = f"{said} from {source}" if said else ""
    everything = f"all of {shortened(whole, _MAX_SOURCES)}" if whole else ""
    return fact("Re-exports", "; ".join(filter(None, (said, everything))))


def _short(source: str) -> str:
    """A module without the way to it: `./a/b` as `b`, `crate::a::b` as `b`, `.x.y` as `y`."""
    path = source.replace("::", "/").rstrip("/.")
    last = path.rpartition("/")[2] or path
    name, _, ending = last.rpartition(".")
    if ending in _HEADERS:
        return printable(last)
    return printable(name if name and ending in _MODULES else ending)
