"""The language of a file: by its name, its extension or its first line."""

import re
from pathlib import PurePosixPath

TEXT = "text"

_BY_EXTENSION = {
    "python": "py pyi pyw pyx pxd",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "vue": "vue",
    "svelte": "svelte",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    # A header of either language is read as C++, whose grammar covers nearly all of C's.
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ h ipp tpp inl cu cuh",
    "c-sharp": "cs csx",
    "f-sharp": "fs fsx fsi",
    "visual-basic": "vb",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc",
    "groovy": "groovy gradle",
    "bash": "sh bash zsh ksh",
    "fish": "fish",
    "powershell": "ps1 psm1 psd1",
    "batch": "bat cmd",
    "lua": "lua",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs",
    "zig": "zig",
    "objective-c": "m mm",
    "dart": "dart",
    "r": "r",
    "julia": "jl",
    "perl": "pl pm",
    "clojure": "clj cljs cljc edn",
    "lisp": "lisp lsp cl el",
    "scheme": "scm ss rkt",
    "ocaml": "ml mli",
    "nim": "nim",
    "crystal": "cr",
    "d": "d",
    "fortran": "f f90 f95 f03 f08",
    "pascal": "pas pp",
    "ada": "adb ads",
    "assembly": "asm s",
    "verilog": "v sv svh",
    "vhdl": "vhd vhdl",
    "solidity": "sol",
    "tcl": "tcl",
    "sql": "sql",
    "starlark": "bzl star",
    "graphql": "graphql gql",
    "protobuf": "proto",
    "thrift": "thrift",
    "terraform": "tf tfvars hcl",
    "nix": "nix",
    "cmake": "cmake",
    "makefile": "mk mak",
    "dockerfile": "dockerfile",
    "html": "html htm xhtml",
    "jinja": "jinja jinja2 j2",
    "css": "css",
    "scss": "scss sass",
    "less": "less",
    "xml": "xml xsd xsl xslt svg plist wsdl",
    "json": "json jsonc json5 webmanifest",
    "jsonl": "jsonl ndjson",
    "jupyter": "ipynb",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties editorconfig",
    "csv": "csv tsv",
    "markdown": "md markdown mdx mdc",
    "rst": "rst rest",
    "asciidoc": "adoc asciidoc",
    "org": "org",
    "tex": "tex bib sty lhs",
    "diff": "diff patch",
    "text": "txt text log",
}
_LANGUAGE_OF_EXTENSION = {
    extension: language for language, extensions in _BY_EXTENSION.items() for extension in extensions.split()
}
_LANGUAGE_OF_NAME = {
    name: language
    for language, names in {
        "dockerfile": "dockerfile containerfile",
        "makefile": "makefile gnumakefile",
        "cmake": "cmakelists.txt",
        "ruby": "gemfile rakefile vagrantfile podfile brewfile guardfile",
        "groovy": "jenkinsfile",
        "starlark": "build build.bazel workspace workspace.bazel tiltfile",
        "python": "sconstruct sconscript wscript",
        "bash": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .envrc pkgbuild",
        "json": "pipfile.lock composer.lock .babelrc .eslintrc .prettierrc",
        "toml": "pipfile cargo.lock poetry.lock uv.lock",
        "yaml": ".clang-format .clang-tidy",
        "ini": ".gitconfig .gitmodules .flake8 .pylintrc .coveragerc .npmrc",
    }.items()
    for name in names.split()
}
_LANGUAGE_OF_INTERPRETER = {
    "python": "python",
    "pypy": "python",
    "sh": "bash",
    "bash": "bash",
    "dash": "bash",
    "ksh": "bash",
    "zsh": "bash",
    "fish": "fish",
    "node": "javascript",
    "nodejs": "javascript",
    "bun": "typescript",
    "deno": "typescript",
    "ts-node": "typescript",
    "ruby": "ruby",
    "php": "php",
    "perl": "perl",
    "lua": "lua",
    "luajit": "lua",
    "rscript": "r",
    "julia": "julia",
    "elixir": "elixir",
    "escript": "erlang",
    "runhaskell": "haskell",
    "runghc": "haskell",
    "groovy": "groovy",
    "scala": "scala",
    "kotlin": "kotlin",
    "swift": "swift",
    "tclsh": "tcl",
    "pwsh": "powershell",
    "make": "makefile",
}
# Written for people or as data: `lang_allowlist` does not concern them.
_NOT_PROGRAMS = frozenset(
    {
        "graphql",
        "protobuf",
        "thrift",
        "terraform",
        "cmake",
        "makefile",
        "dockerfile",
        "html",
        "jinja",
        "css",
        "scss",
        "less",
        "xml",
        "json",
        "jsonl",
        "jupyter",
        "yaml",
        "toml",
        "ini",
        "csv",
        "markdown",
        "rst",
        "asciidoc",
        "org",
        "tex",
        "diff",
        "text",
    }
)
PROSE = frozenset({"markdown", "rst", "asciidoc", "org", "tex", "text"})
LANGUAGES = frozenset(_BY_EXTENSION)

_SHEBANG = re.compile(rb"#![ \t]*(\S+)([^\r\n]*)")


def language_of_path(path: str) -> str | None:
    """The language that a file's name says; None where only its first line can."""
    name = PurePosixPath(path).name.lower()
    if name in _LANGUAGE_OF_NAME:
        return _LANGUAGE_OF_NAME[name]
    if name.startswith(("dockerfile.", "makefile.")):
        return name.partition(".")[0]
    stem, dot, extension = name.rpartition(".")
    return _LANGUAGE_OF_EXTENSION.get(extension) if dot and stem else None


def language_of_first_line(data: bytes) -> str | None:
    """The language of the interpreter that a script's first line names."""
    match = _SHEBANG.match(data[:256])
    if not match:
        return None
    words = [match[1], *match[2].split()]
    programs = [word.rpartition(b"/")[2].decode("ascii", "replace").lower() for word in words]
    if programs[0] == "env":
        programs = [word for word in programs[1:] if not word.startswith("-") and "=" not in word]
    if not programs:
        return None
    program = re.sub(r"[\d.]+$", "", programs[0])
    return _LANGUAGE_OF_INTERPRETER.get(program)


def extensions_of(language: str) -> tuple[str, ...]:
    """The extensions by which files of a language are known, without dots; the usual one first."""
    return tuple(_BY_EXTENSION.get(language, "").split())


def is_program(language: str) -> bool:
    """Whether a language is one that programs are written in, as opposed to prose, markup and data."""
    return language not in _NOT_PROGRAMS
