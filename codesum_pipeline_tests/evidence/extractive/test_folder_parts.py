"""What folders say whose parts have no common theme."""

import pytest

from codesum_pipeline.evidence.extractive.extractive_parents import write_module
from codesum_pipeline.evidence.inputs import ChildText
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline_tests.evidence.extractive.shown_inputs import child, module_input


def files(*named: tuple[str, str], keywords: str = "") -> tuple[ChildText, ...]:
    return tuple(child(name, summary, level=Level.FILE, keywords=keywords) for name, summary in named)


FOLDERS = {
    "tests by what they are of, with what the first say": (
        files(("users_spec.rb", "Tests: lists all users; shows one."), ("coins_spec.rb", "Runs with rails.")),
        "Holds 2 tests of coins, users. Users: lists all users.",
    ),
    "translations by their languages": (
        tuple(child(name, '2 texts in X, such as "a".', level=Level.MODULE) for name in ("de", "pt_BR", "zh-Hans")),
        "Holds 3 translations into German, Portuguese (pt_BR), Chinese (zh-Hans).",
    ),
    "drawings": (
        files(*((f"{name}.xml", f'Vector drawing "{name}" of 24dp by 24dp.') for name in ("bell", "coin", "door"))),
        "Holds 3 drawings: bell, coin, door.",
    ),
    "manifests of Kubernetes": (
        files(
            *((f"{name}.yaml", f"Declares the Kubernetes objects Service {name}.") for name in ("web", "db", "till"))
        ),
        "Holds 3 manifests of Kubernetes: db, till, web.",
    ),
    "workflows": (
        files(*((f"{name}.yml", f'GitHub workflow "{name}": runs on push.') for name in ("test", "lint", "release"))),
        "Holds 3 workflows of GitHub: lint, release, test.",
    ),
    "files of a language with the words that they share": (
        files(*((f"{name}.php", f"Defines {name}.") for name in ("box", "date", "file")), keywords="field label box"),
        "Holds 3 PHP files: box, date, file. Most mention field and label.",
    ),
    "one image set": (
        files(("Contents.json", 'Image set "bigBell" of bigBell.png.')),
        'Image set "bigBell" of bigBell.png.',
    ),
    "one file that only names things": (
        files(("action.js", "Defines run."), keywords="upload store"),
        "Holds the JavaScript file action, which mentions upload and store.",
    ),
    "a package": (
        files(
            ("Cargo.toml", "Describes the Rust package and its dependencies. Package till: Counts coins. Needs a, b.")
        ),
        "Describes the Rust package and its dependencies. Package till: Counts coins.",
    ),
    "few files of which one has a headline": (
        files(*((f"{name}.go", f"Defines {name}.") for name in ("add", "get")), ("run.go", "Opens a till.")),
        "Run: opens a till.",
    ),
    "many files of which one has a headline": (
        files(*((f"{name}.go", f"Defines {name}.") for name in ("add", "get", "put")), ("run.go", "Opens a till.")),
        "Holds 4 Go files: add, get, put, run. Run: opens a till.",
    ),
}


@pytest.mark.parametrize(("children", "summary"), FOLDERS.values(), ids=FOLDERS.keys())
def test_a_folder_says_what_its_parts_are(children, summary):
    assert write_module(module_input("app/x", children=children)).text.summary == summary
