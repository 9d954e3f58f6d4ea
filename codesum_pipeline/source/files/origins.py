"""Finds whose code a file or a folder is, where the file or the folder itself says so.

A folder with a licence of its own, by other people than the repository's, and without a package of its own, is a copy;
so is a file whose first comment names another project with a version, or says where it was copied from. Both are rare
enough to be said only where nothing else is meant: people also sign what they contribute, and are thanked for ideas.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

_LICENSES, _ENDINGS = "MIT|APACHE|BSD|BOOST", "(?:md|txt|rst)"
_LICENSE = re.compile(
    r"(?:LICEN[CS]E|COPYING|UNLICENSE)"
    # A run of digits, dots and underscores is read once; its last one may be what stands before a word or an ending.
    rf"(?:[-_.](?:{_LICENSES}|[\d_.](?:[\d_.]++(?:(?<=[_.])(?:{_LICENSES})|(?<=\.){_ENDINGS}\Z)?)?+))*+(?:\.{_ENDINGS})?",
    re.I,
)
_PACKAGE = re.compile(
    r"package\.json|Cargo\.toml|setup\.(?:py|cfg)|pyproject\.toml|go\.mod|composer\.json|pom\.xml|build\.(?:gradle(?:\.kts)?"
    r"|sbt|sc|zig)|mix\.exs|Package\.swift|.*\.(?:gemspec|cabal|csproj|podspec|rockspec|nuspec)", re.I
)  # fmt: skip
# A licence may be called after what it is of: `fmt.license.rst` in `fmt/bundled`.
_NAMED_LICENSE = re.compile(r"([\w-]+)\.licen[cs]e(?:\.(?:md|txt|rst))?", re.I)
# Folders for what others wrote, where a package of its own says nothing else.
_DEPENDENCIES = re.compile(r"(?:^|/)(?:deps|externs?|externals?|submodules|subprojects)/", re.I)
# With a year or a sign: the text of a licence speaks of copyright too. Those who wrote the licence hold nothing else.
_HOLDER = re.compile(
    r"^[^\w\n]*(?:portions )?copyright\b(?=.*(?:\d{4}|\(c\)|©))(?!.*free software foundation)(.*)", re.I | re.M
)
_ADDRESS = re.compile(r"<[^<>@/]*+[@/][^<>]*+>")
_NAME = re.compile(r"[^\W\d_]{3,}")
_NO_NAMES = frozenset({
    "all", "and", "authors", "author", "com", "contributors", "copyright", "corporation", "developers", "github",
    "gmail", "http", "https", "inc", "limited", "llc", "ltd", "name", "notice", "org", "owner", "owners", "present",
    "project", "reserved", "respective", "rights", "team", "the", "their", "www", "year", "yyyy",
})  # fmt: skip
LARGEST_LICENSE_BYTES = 64 * 1024
MOST_LICENSES = 500

# How much of a file is searched: its opening comment, and the lines of it that may be titles.
HEAD_CHARS = 3_000
_TITLE_LINES = 6
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#|--|;|\"\"\"|'''|\{-|=begin)|\s*$")
_TITLE = re.compile(
    r"^[\s/*!#;-]*(?P<name>[A-Za-z][\w.+-]*(?: [A-Za-z][\w.+-]*){0,3}?)(?: JavaScript Library)?,? (?:[-\u2013] )?"
    r"[vV]\d+\.\d++[\w.-]*(?:$|[\s,|(*-])"
)
_NO_TITLE = re.compile(
    r"licen[cs]e|version|since|requires?|supports?|gpl|api|protoc|gen|spec|standard|draft|rfc|schema", re.I
)
_MODIFIED = re.compile(
    r"\bmodified (?:version|copy) of [^\n]{0,40}?(?P<name>[\w-]+)\.(?:h|hh|hpp|c|cc|cpp|js|ts|py|lua|rb|go|rs|php)\b",
    re.I,
)
_COPIED = re.compile(
    r"^(?:[^\S\n]|[/*!#;-])*+(?:(?:this|the) (?:file|code|module|source) (?:is|was|has been) |(?:code|file|source) )?"
    r"(?:vendored|copied|taken|imported)(?: verbatim| directly| unmodified)? from:? "
    r"(?:https?://[\w.-]+/(?P<owner>[\w.-]+)/(?P<project>[\w.-]+)|(?P<named>[A-Z]\w+)[ .]*$)",
    re.I | re.M,
)  # fmt: skip


def stated_origin(source: str) -> str | None:
    """The project that a file's first comment says it is of, with a version or the place it was copied from."""
    lines: list[str] = []
    for line in source[:HEAD_CHARS].split("\n"):
        above = "\n".join(lines)
        # A block comment that was begun may not have ended.
        is_open = above.rfind("/*") > above.rfind("*/") or above.count('"""') % 2 == 1
        if not (_COMMENT.match(line) or is_open):
            break
        lines.append(line)
    comment = "\n".join(lines)
    for line in [line for line in lines if line.strip(" /*#;-!")][:_TITLE_LINES]:
        title = _TITLE.match(line)
        if title and not _NO_TITLE.search(title["name"]):
            return title["name"]
    if found := _MODIFIED.search(comment):
        return found["name"]
    if found := _COPIED.search(comment):
        return found["named"] if found["named"] else f"{found['owner']}/{found['project']}"
    return None


def is_own(origin: str, names: Iterable[str]) -> bool:
    """Whether a project is one of those that a repository is known by."""
    name_there = _letters(origin.rpartition("/")[2].removesuffix(".git"))
    known = [_letters(name) for name in names]
    return not name_there or any(name and (name_there in name or name in name_there) for name in known)


def foreign_folders(paths: Mapping[str, int], read: Callable[[Collection[str]], Mapping[str, str]]) -> frozenset[str]:
    """The folders of a tree that hold others' code by their licences; `paths` with sizes in bytes.

    `read` gives the texts of some of them.
    """
    licenses = [path for path, size in paths.items() if _is_license(path) and size <= LARGEST_LICENSE_BYTES]
    inner = [path for path in licenses if "/" in path]
    if not inner or len(licenses) > MOST_LICENSES:
        return frozenset()
    texts = read(licenses)
    own = set().union(*(_holders(texts.get(path, "")) for path in licenses if "/" not in path))
    found: dict[str, set[str]] = {}
    for path in inner:
        found.setdefault(path.rpartition("/")[0], set()).update(_holders(texts.get(path, "")))
    foreign = {folder for folder, holders in found.items() if own and holders and not own & holders}
    split = (path.rpartition("/") for path in paths)
    packages = {folder for folder, _, name in split if folder in foreign and _PACKAGE.fullmatch(name)}
    return frozenset(f for f in foreign if f not in packages or _DEPENDENCIES.search(f"{f}/"))


def is_below(path: str, folders: Collection[str]) -> bool:
    """Whether a file is in one of some folders."""
    folder = path if folders else ""
    while folder := folder.rpartition("/")[0]:
        if folder in folders:
            return True
    return False


def _is_license(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    # Most names need no pattern.
    if "licen" not in (lower := name.lower()) and "copying" not in lower:
        return False
    named = _NAMED_LICENSE.fullmatch(name)
    is_of_folder = named is not None and named[1].lower() in "/".join(folder.split("/")[-2:]).lower()
    return is_of_folder or _LICENSE.fullmatch(name) is not None


def _holders(license_: str) -> set[str]:
    """The words of the names in a licence's copyright lines."""
    found = (_ADDRESS.sub("", line) for line in _HOLDER.findall(license_))
    # A form that nobody filled in has its places in brackets.
    lines = (line for line in found if not {*"[<"} & {*line})
    return {word for line in lines for word in map(str.lower, _NAME.findall(line)) if word not in _NO_NAMES}


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]|(?<=\w)(?:[.]?js|lib(?:rary)?)$", "", name.lower())
