"""The documents say what the code does. `python -m codesum_pipeline_tests.test_docs` writes anew what is
written from it: `PAGES`, and the lines of docs/decisions/README.md.
"""

import re
from collections.abc import Iterator

import pytest

from codesum_pipeline.foundation.settings.channel_settings import ChatSettings, EmailSettings, WebhookChannelSettings
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline_tests.support.decision_list import DECISIONS, LIST, list_page, listed
from codesum_pipeline_tests.support.doc_pages import (
    LINKED,
    READ,
    command_lines,
    is_lost,
    links,
    named_commands,
    pages,
    problem_of,
    read_page,
)
from codesum_pipeline_tests.support.reference_pages import PAGES, describe_setting, settings_rows, shown_default
from codesum_pipeline_tests.support.rooms import PACKAGE, PROJECT, rooms

DOCS = PROJECT / "docs"

# Programs of pages that no test starts, and why.
OUTSIDE = {
    "aws": "needs a bucket",
    "docker": "needs Docker",
    "gh": "needs a repository at GitHub",
    "helm": "needs a cluster",
    "kubectl": "needs a cluster",
    "npm": "fetches packages; symbols/scip/test_real_indexers.py runs these",
    "openssl": "makes a secret",
    "pip": "fetches packages",
    "pipx": "fetches packages",
    "prometheus": "is a server that ends by Ctrl-C",
    "uv": "fetches packages",
    **dict.fromkeys(("$EDITOR", "cat", "chmod", "cp", "echo", "export", "install", "umask"), "is the shell's own"),
}


def channel_table() -> str:
    """The rows of docs/delivery.md about the keys of channels; a key that all kinds have stands once."""
    kinds = {"email": EmailSettings, "webhook": WebhookChannelSettings, "chats": ChatSettings}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for kind, model in kinds.items():
        for name, field in model.model_fields.items():
            default = shown_default(None if field.default == "" else field.default)
            rows.setdefault((field.alias or name, default, describe_setting(model, name)), []).append(kind)
    lines = [
        (key, ", ".join(have) if len(have) < len(kinds) else "all", default, meaning)
        for (key, default, meaning), have in rows.items()
    ]
    return "".join(f"| `{key}` | {have} | {default} | {meaning} |\n" for key, have, default, meaning in lines)


def deep_links() -> Iterator[tuple[str, str]]:
    """The links to pages in texts of the package, and the modules that have them."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for link in re.findall(r"docs/([\w/]+\.(?:md|json)(?:#[\w-]+)?)", file.read_text(encoding="utf-8")):
            yield file.relative_to(PACKAGE).as_posix(), link


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_is_written_from_the_code_says_what_the_code_does(name: str) -> None:
    assert (DOCS / f"{name}.md").read_text(encoding="utf-8") == PAGES[name]()


def test_every_setting_says_what_it_means() -> None:
    assert [key for key, _, meaning in settings_rows(Settings) if not meaning] == []


def test_the_delivery_page_lists_every_key_of_a_channel_as_it_is() -> None:
    assert channel_table() in (DOCS / "delivery.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", pages(*READ))
def test_every_command_of_a_page_is_one(page: str) -> None:
    known = {"codesum", "make", "python", *OUTSIDE}
    lines = list(command_lines(page))
    whole = [(words, problem_of(words, is_whole=True)) for words in lines if words[0] == "codesum"]
    named = [(words, problem_of(words, is_whole=False)) for words in named_commands(page)]

    assert [words for words in lines if words[0] not in known] == []
    assert [each for each in (*whole, *named) if each[1]] == []


def test_every_target_and_script_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in pages(*READ):
        text = read_page(page)
        modules = re.findall(r"python -m (codesum_pipeline_tests[\w.]*|benchmarks[\w.]*)", text)
        paths = [*(f"{module.replace('.', '/')}.py" for module in modules), *re.findall(r"python ([\w/]+\.py)", text)]

        assert set(re.findall(r"`make ([a-z-]+)", text)) <= targets, page
        assert [path for path in paths if not (PROJECT / path).exists()] == [], page


@pytest.mark.parametrize("page", pages(*LINKED))
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    assert [link for link in links(page) if is_lost(page, link)] == []


def test_every_link_of_the_package_to_a_page_leads_somewhere() -> None:
    found = list(deep_links())

    assert found and [(module, link) for module, link in found if is_lost("docs/README.md", link)] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/internals.md"])
def test_every_module_that_a_page_names_exists(page: str) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", read_page(page))
    lost = [name for name in named if not any((top / name).exists() for top in (PROJECT, PACKAGE))]

    assert named and not lost


def test_every_decision_is_listed_once_below_a_room_as_its_page_says() -> None:
    headings = re.findall(r"^## (.*)$", LIST.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(listed()) == sorted(file.name for file in DECISIONS.glob("[0-9]*.md"))
    assert headings == [*(f"`{room}`" for room in rooms()), "The house"]
    assert LIST.read_text(encoding="utf-8") == list_page()


def write_pages() -> None:
    for name, page in PAGES.items():
        (DOCS / f"{name}.md").write_text(page(), encoding="utf-8")
    LIST.write_text(list_page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
