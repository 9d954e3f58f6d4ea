"""Identifiers become words."""

import re
from functools import lru_cache

from codesum_pipeline.summaries.documentation.word_lists import word_set

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")
# A word keeps its number and a letter or two after it (`k3s`, `l4re`, `utf8`); a digest stays whole.
_SPOKEN_PART = re.compile(
    r"(?=(?:[a-z]*\d){5})[a-z\d]{12,}|[A-Z]{2,}v\d+(?![a-z])|[A-Z][A-Z0-9]*(?![a-z])|[A-Z]?[a-z]+(?:\d+[a-z]{1,2}(?![a-z\d])|\d*)"
    r"|[^\W\d_a-zA-Z]+|\d+[a-z]?(?![a-z])|\d+"
)
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
    "LinkedIn": "Linkedin", "jQuery": "Jquery", "CMake": "Cmake",
    "DataFrame": "Dataframe", "DiGraph": "Digraph", "JUnit": "Junit",
}  # fmt: skip
_BRAND = re.compile("|".join(_BRANDS))
_PLURAL_ACRONYM = re.compile(r"([A-Z]{2,})s(?![a-z])")
# Written together in identifiers, apart in prose.
_CLIPPED = {
    "addr": "address", "arg": "argument", "args": "arguments", "argv": "arguments", "attr": "attribute",
    "attrs": "attributes", "buf": "buffer", "cb": "callback", "cfg": "config", "cls": "class", "cmd": "command",
    "cmds": "commands", "conf": "config", "conn": "connection", "ctx": "context", "cur": "current", "curr": "current",
    "cwd": "working directory", "db": "database", "decl": "declaration", "defn": "definition", "defs": "definitions",
    "deps": "dependencies", "dest": "destination", "dir": "directory", "dirname": "directory name",
    "dirs": "directories", "doc": "document", "docs": "documents", "dst": "destination", "elem": "element",
    "elems": "elements", "env": "environment", "evt": "event", "exc": "exception", "expr": "expression",
    "exprs": "expressions", "ext": "extension", "fd": "file descriptor", "filename": "file name",
    "filenames": "file names", "filepath": "file path", "fn": "function", "fname": "file name", "func": "function",
    "funcs": "functions", "hdr": "header", "hdrs": "headers", "idx": "index", "iface": "interface",
    "impl": "implementation", "img": "image", "init": "init", "kwarg": "keyword argument",
    "kwargs": "keyword arguments", "lang": "language", "len": "length", "lib": "library", "lineno": "line number",
    "lst": "list", "mgr": "manager", "msg": "message", "msgs": "messages", "num": "number", "obj": "object",
    "objs": "objects", "opt": "option", "opts": "options", "param": "parameter", "params": "parameters",
    "pathname": "path name", "pkg": "package", "pos": "position", "pred": "predicate", "prefs": "preferences",
    "prev": "previous", "prop": "property", "props": "properties", "ptr": "pointer", "pwd": "password",
    "qs": "query string", "recv": "receive", "ref": "reference", "refs": "references", "regex": "regular expression",
    "repo": "repository", "repos": "repositories", "req": "request", "reqs": "requests", "resp": "response",
    "ret": "return value", "sep": "separator", "spec": "specification", "specs": "specifications", "src": "source",
    "stmt": "statement", "stmts": "statements", "str": "string", "strs": "strings", "sz": "size",
    "tmp": "temporary", "tok": "token", "toks": "tokens", "txt": "text", "val": "value", "vals": "values",
    "var": "variable", "vars": "variables", "ver": "version",
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
    "jquery": "jQuery", "typescript": "TypeScript", "youtube": "YouTube",
    "dataframe": "data frame", "digraph": "directed graph",
}  # fmt: skip
# An ending with digits that is one word: utf8, sha256, ipv4, base64.
_GLUED_DIGITS = word_set(
    """
    utf sha md ipv base int uint float bz x http oauth h s ec py latin
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
def spoken(identifier: str, *, written_out: bool = True) -> str:
    """An identifier as a reader would say it: `req_hdrs` gives `request headers`, `user_id` gives `user ID`.

    Clipped words are left as they are where they are not `written_out`.
    """
    words = name_words(identifier)
    return " ".join(map(spoken_word, words) if written_out else words)


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
