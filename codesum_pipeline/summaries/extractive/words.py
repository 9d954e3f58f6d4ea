"""Identifiers become words."""

import re
from functools import lru_cache

from codesum_pipeline.summaries.extractive.word_lists import word_set

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")
_SPOKEN_PART = re.compile(r"[A-Z][A-Z0-9]*(?![a-z])|[A-Z]?[a-z]+\d*|[^\W\d_a-zA-Z]+|\d+[a-z]?(?![a-z])|\d+")
# Longer ones are no names: digests, encoded data.
_MAX_CHARS = 200
# Names with inner capitals that are one word.
_BRANDS = {
    "SQLite": "Sqlite", "GitHub": "Github", "GitLab": "Gitlab", "PostgreSQL": "Postgresql", "NetworkX": "Networkx",
    "PyPI": "Pypi", "OAuth": "Oauth", "GraphQL": "Graphql", "OpenAI": "Openai", "MongoDB": "Mongodb",
    "DynamoDB": "Dynamodb", "JavaScript": "Javascript", "TypeScript": "Typescript", "LaTeX": "Latex",
    "NumPy": "Numpy", "SciPy": "Scipy", "TensorFlow": "Tensorflow", "PyTorch": "Pytorch", "MySQL": "Mysql",
    "IPv4": "Ipv4", "IPv6": "Ipv6", "GraphML": "Graphml", "BigQuery": "Bigquery", "ClickHouse": "Clickhouse",
    "DuckDB": "Duckdb", "CoffeeScript": "Coffeescript", "macOS": "macos", "iOS": "ios", "YouTube": "Youtube",
    "LinkedIn": "Linkedin", "DataFrame": "Dataframe", "DiGraph": "Digraph",
}  # fmt: skip
_BRAND = re.compile("|".join(_BRANDS))
_VOWELS = frozenset("aeiou")
_PLURAL_ACRONYM = re.compile(r"([A-Z]{2,})s(?![a-z])")
# Written together in identifiers, apart in prose.
_CLIPPED = {
    "addr": "address", "arg": "argument", "args": "arguments", "argv": "arguments", "attr": "attribute",
    "attrs": "attributes", "auth": "auth", "buf": "buffer", "cb": "callback", "cfg": "config", "cls": "class",
    "cmd": "command", "cmds": "commands", "col": "column", "cols": "columns", "conf": "config", "conn": "connection",
    "ctx": "context", "cur": "current", "curr": "current", "cwd": "working directory", "db": "database",
    "decl": "declaration", "def": "definition", "defn": "definition", "defs": "definitions", "deps": "dependencies",
    "desc": "description", "dest": "destination", "dict": "dict", "diff": "difference", "dir": "directory",
    "dirname": "directory name", "dirs": "directories", "doc": "document", "docs": "documents", "dst": "destination",
    "dt": "datetime", "elem": "element", "elems": "elements", "env": "environment", "err": "error", "evt": "event",
    "exc": "exception", "expr": "expression", "exprs": "expressions", "ext": "extension", "fd": "file descriptor",
    "filename": "file name", "filenames": "file names", "filepath": "file path", "fn": "function", "fname": "file name",
    "fp": "file", "fmt": "format", "func": "function", "funcs": "functions", "hdr": "header", "hdrs": "headers",
    "idx": "index", "iface": "interface", "impl": "implementation", "img": "image", "info": "info", "init": "init",
    "iter": "iterator", "kw": "keyword arguments", "kwarg": "keyword argument", "kwargs": "keyword arguments",
    "lang": "language", "len": "length", "lib": "library", "lineno": "line number", "lst": "list", "mgr": "manager",
    "mod": "module", "msg": "message", "msgs": "messages", "num": "number", "obj": "object", "objs": "objects",
    "op": "operation", "ops": "operations", "opt": "option", "opts": "options", "param": "parameter",
    "params": "parameters", "pathname": "path name", "pkg": "package", "pos": "position", "pred": "predicate",
    "prefs": "preferences", "prev": "previous", "proc": "process", "prop": "property", "props": "properties",
    "ptr": "pointer", "pwd": "password", "qs": "query string", "recv": "receive", "ref": "reference",
    "refs": "references", "regex": "regular expression", "repo": "repository", "repos": "repositories",
    "req": "request", "reqs": "requests", "res": "result", "resp": "response", "ret": "return value", "sec": "seconds",
    "secs": "seconds", "sep": "separator", "sig": "signature", "spec": "specification", "specs": "specifications",
    "src": "source", "stmt": "statement", "stmts": "statements", "str": "string", "strs": "strings",
    "struct": "struct", "sub": "sub", "sz": "size", "tb": "traceback", "temp": "temporary", "tmp": "temporary",
    "tok": "token", "toks": "tokens", "txt": "text", "val": "value", "vals": "values", "var": "variable",
    "vars": "variables", "ver": "version", "ws": "whitespace",
}  # fmt: skip
_ACRONYMS = word_set(
    """
    api ascii aws cli cpu css csv dag db dns ftp gpu gui html http https id io ip ipv4 ipv6 iso jpeg json jwt
    llm md5 mime ocr oid ok orm os pdf pid png posix ram rgb rpc rsa sdk sha1 sha256 sha512 smtp socks sql ssh
    ssl svg tcp tls toml ttl ui udp uri url utc utf uuid vpn wsgi asgi xml yaml zip
    """
)
_MIXED_CASE = {
    "ipv4": "IPv4", "ipv6": "IPv6", "http2": "HTTP/2", "http3": "HTTP/3", "ids": "IDs", "oauth": "OAuth",
    "github": "GitHub", "gitlab": "GitLab", "graphql": "GraphQL", "javascript": "JavaScript", "python": "Python",
    "sqlite": "SQLite", "mysql": "MySQL", "postgresql": "PostgreSQL", "postgres": "Postgres", "latex": "LaTeX",
    "unicode": "Unicode", "pytorch": "PyTorch", "english": "English", "networkx": "NetworkX", "numpy": "NumPy",
    "pypi": "PyPI", "openai": "OpenAI", "graphml": "GraphML", "duckdb": "DuckDB", "mongodb": "MongoDB",
    "typescript": "TypeScript", "youtube": "YouTube", "dataframe": "data frame", "digraph": "directed graph",
}  # fmt: skip
# An ending with digits that is one word: utf8, sha256, ipv4, base64.
_GLUED_DIGITS = word_set(
    """
    utf sha md ipv base int uint float bz x http oauth h s ec py latin
    """
)
_INVARIANT = word_set(
    """
    status series species class process access address alias bus canvas os https css dns ss is this as
    """
)


def _regular(identifier: str) -> str:
    """The identifier with brands and plural acronyms (`URLs`) capitalised like any word."""
    identifier = identifier[:_MAX_CHARS]
    if identifier.islower():
        return identifier
    identifier = _BRAND.sub(lambda match: _BRANDS[match[0]], identifier)
    return _PLURAL_ACRONYM.sub(lambda match: f"{match[1].capitalize()}s", identifier)


@lru_cache(maxsize=65536)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Lower-case words of a snake, camel or kebab name: `HTTPServer2_loop` gives http, server, 2, loop."""
    parts = _PART.findall(_regular(identifier))
    words: list[str] = []
    for part in parts:
        word = part.lower()
        if words and word.isdigit() and words[-1] in _GLUED_DIGITS:
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


@lru_cache(maxsize=65536)
def spoken(identifier: str) -> str:
    """An identifier as a reader would say it: `req_hdrs` gives `request headers`, `user_id` gives `user ID`."""
    return " ".join(map(spoken_word, name_words(identifier)))


@lru_cache(maxsize=65536)
def name_words(identifier: str) -> tuple[str, ...]:
    """Lower-case words as they are said, a number staying with its word: `x509_store2` gives x509, store2."""
    parts = _SPOKEN_PART.findall(_regular(identifier))
    return tuple([part.lower() for part in parts])


def spoken_word(word: str) -> str:
    """A clipped word written out, an acronym in capitals."""
    if word in _ACRONYMS:
        return word.upper()
    if word in _MIXED_CASE:
        return _MIXED_CASE[word]
    if word[-1:] == "s" and word[:-1] in _ACRONYMS:
        return f"{word[:-1].upper()}s"
    return _CLIPPED.get(word, word)


def is_plural(phrase: str) -> bool:
    """Whether a noun phrase looks like a plural."""
    last = phrase.rsplit(" ", 1)[-1].lower()
    if last in ("children", "data", "people", "indices", "criteria", "media"):
        return True
    return (
        len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is", "ous")) and last not in _INVARIANT
    )


def with_article(phrase: str, *, definite: bool = False) -> str:
    """`the header`, `a header`, `an error`, `headers`."""
    first = phrase.split(" ", 1)[0]
    if first.lower() in _DETERMINED:
        return phrase
    if definite or first.lower() in _ORDINALS:
        return f"the {phrase}"
    if is_plural(phrase) or phrase.rsplit(" ", 1)[-1].lower() in _MASS:
        return phrase
    return f"{indefinite(first)} {phrase}"


def indefinite(word: str) -> str:
    """`a` or `an`, by how the word sounds."""
    lower = word.lower()
    if word.startswith("HTTP"):
        return "an"
    if not any(char in "aeiouy" for char in lower) and lower.isalpha():
        return "an" if lower[0] in "fhlmnrsx" else "a"
    if word.isupper() and len(word) > 1 and word not in ("UTC", "UUID", "UI"):
        return (
            "an"
            if (word[0] in "AEFHILMNORSX" and word not in ("SHA1", "SHA256", "RAM", "ROM", "ISO")) or word == "ISO"
            else "a"
        )
    if lower.startswith(
        ("uni", "use", "util", "uuid", "utc", "uri", "url", "eu", "one", "ut", "ui", "usa")
    ) and not lower.startswith("unin"):
        return "a"
    return "an" if lower[:1] in _VOWELS or lower.startswith(("hour", "honest")) else "a"


_DETERMINED = word_set(
    """
    all any each every some no none many few more most both a an the this that these those its their other
    another one two three zero if whether what which how
    """
)
_ORDINALS = word_set(
    """
    first last next previous current same only default whole rest following final given
    """
)
_MASS = word_set(
    """
    data metadata information info text content contents output input code access json xml html yaml toml sql
    help memory space whitespace progress work traffic usage support documentation auth authentication
    authorization parsing logging caching indexing compression encryption validation debugging testing async
    http https stdin stdout stderr kwargs args keyword arguments tuning training inference precision recall css
    csv color true false null feedback storage hardware software markdown math io
    """
)


@lru_cache(maxsize=16384)
def fold_plural(word: str) -> str:
    """A word without the ending of a plural or of the third person, for comparing."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word
