"""What the grammar of C# is given in place of words that it does not know where they stand."""

import re

# Between the words of a struct, which it knows in one order only, as a modifier that it knows everywhere.
_REF = re.compile(rb"\bref(?=[ \t]+partial[ \t]+struct\b)")
# A name, if no lambda, function or type comes after it, as another name.
_ASYNC = re.compile(rb"(?<![\w.@])async(?=[ \t]*(?:[),;:?.\]}&|]|[=!]=|=[^>]))")


def masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long, where it did not read it as it is."""
    return _ASYNC.sub(b"asynk", _REF.sub(b"new", source)) if is_broken else source
