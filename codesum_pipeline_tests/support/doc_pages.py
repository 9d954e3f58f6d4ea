"""What the Markdown pages of the repository hold: their links, headings and commands."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

from codesum_pipeline_tests.support.rooms import PROJECT

# Pages that people read; the records of measurements name commands of their time.
READ = ("README.md", "CONTRIBUTING.md", "docs/*.md", "deploy/*/README.md")
LINKED = (*READ, "CHANGELOG.md", "docs/decisions/*.md", "benchmarks/README.md", "benchmarks/results/*.md")

_FENCE = re.compile(r"^( *)(`{3,})(\w*)\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n *[^`\n]+)?)`(?!`)")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_OPTION = re.compile(r"--?[a-z][a-z-]*")


def pages(*patterns: str) -> list[str]:
    """The paths of the pages, relative to the repository."""
    return sorted(path.relative_to(PROJECT).as_posix() for pattern in patterns for path in PROJECT.glob(pattern))


def read_page(page: str) -> str:
    return (PROJECT / page).read_text(encoding="utf-8")


def links(page: str) -> list[str]:
    """Its links to files and headings of the repository."""
    text = _SPAN.sub("", _FENCE.sub("", read_page(page)))
    return [link for link in _LINK.findall(text) if "://" not in link and not link.startswith("mailto:")]


def anchors(page: str) -> set[str]:
    """The names of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", read_page(page)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def is_lost(page: str, link: str) -> bool:
    """Whether a link of the page leads nowhere."""
    path, _, anchor = link.partition("#")
    target = (PROJECT / page).parent / path if path else PROJECT / page
    if not target.exists():
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors(str(target.resolve().relative_to(PROJECT)))


def command_lines(page: str) -> Iterator[list[str]]:
    """The words of each command in its blocks: of a console those after `$`, of a script all lines."""
    for _, _, language, block in _FENCE.findall(read_page(page)):
        lines = re.sub(r"\\\n *", "", block).splitlines()
        if language == "console":
            lines = [line.strip()[2:] for line in lines if line.strip().startswith("$ ")]
        elif language not in ("sh", "bash"):
            continue
        for line in _whole(lines):
            words = [word for word in _words(line) if not re.match(r"[A-Z_]+=", word) and word not in ("sudo", "exec")]
            yield from _split_at(words, {"|", "&&", ";", "(", ")", ">", "|&"})


def named_commands(page: str) -> Iterator[list[str]]:
    """The words of each `codesum …` in running text."""
    for span in _SPAN.findall(_FENCE.sub("", read_page(page))):
        if re.match(r"codesum [a-z-]", span) and "…" not in span:
            yield _words(" ".join(span.split()))


def _whole(lines: list[str]) -> Iterator[str]:
    """Lines without comments; a text in quotes may go over several."""
    begun = ""
    for line in lines:
        begun = f"{begun}\n{line}" if begun else re.sub(r"(^|\s)#.*", "", line)
        if begun.count("'") % 2 == 0 and begun.count('"') % 2 == 0:
            yield begun
            begun = ""


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
    lexer.commenters = ""
    lexer.wordchars += "$*?![]{},:@%^+#…"
    return list(lexer)


def _split_at(words: list[str], ends: set[str]) -> Iterator[list[str]]:
    """The commands of a line; a file that output goes to is none."""
    command: list[str] = []
    to_file = False
    for word in [*words, ";"]:
        if word in ends:
            if command and not to_file:
                yield command
            command, to_file = [], word == ">"
        else:
            command.append(word)


def problem_of(words: list[str], *, is_whole: bool) -> str:
    """What is wrong with a call of `codesum`; "" if nothing. One that is not whole may lack values and arguments."""
    from typer.main import get_command

    from codesum_pipeline.ways_in.cli.cli_app import app, load_command

    group: Any = get_command(app)
    parser = group.make_parser(group.context_class(group))
    try:
        _, rest, _ = parser.parse_args([*words[1:]])
        if not rest:
            return ""
        name, *arguments = rest
        if name not in group.list_commands(None):
            return f"no command {name}"
        command: Any = load_command(name)
        while getattr(command, "commands", None) and arguments and arguments[0] in command.commands:
            command = command.commands[arguments.pop(0)]
        return _problem_with(command, arguments, is_whole=is_whole)
    except Exception as error:
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"


def _problem_with(command: Any, arguments: list[str], *, is_whole: bool) -> str:
    if getattr(command, "commands", None):
        return f"no command {arguments[0]}" if arguments else ""
    if not is_whole:
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help", "-h"}
        unknown = [word for word in arguments if _OPTION.fullmatch(word) and word not in known]
        return f"no option {unknown[0]}" if unknown else ""
    values, rest, _ = command.make_parser(command.context_class(command)).parse_args([*arguments])
    missing = [each.name for each in command.params if each.required and values.get(each.name) is None]
    return f"missing {missing[0]}" if missing else f"too much: {rest}" if rest else ""
