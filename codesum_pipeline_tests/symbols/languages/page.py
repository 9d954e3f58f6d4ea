"""What docs/languages.md must be. `python -m codesum_pipeline_tests.symbols.languages.page` writes it anew."""

from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

from msgspec.structs import fields

from codesum_pipeline.foundation.language_facts.language_profiles import profile_of, profiles
from codesum_pipeline.symbols.languages.declaration import Declaration
from codesum_pipeline.symbols.languages.language_registry import declarations
from codesum_pipeline.symbols.languages.spec import LanguageSpec

PAGE = Path(__file__).parents[3] / "docs" / "languages.md"

HEAD = """# Languages

Files of these languages are parsed with tree-sitter into functions and classes; every other text file is indexed
as a file. This page is written from the declarations in `codesum_pipeline/symbols/languages/`
(`python -m codesum_pipeline_tests.symbols.languages.page`), so it says what the parsers do. Names in `code` are node
types of the grammar.

"Owner" means that a definition outside its type's braces still belongs to it (`func (s *Store) Find`,
`impl Shape`, `Shape::area`). A type is known from what the source says at the place (`x: Foo`, `x = new Foo()`), never
guessed. Complexity is one plus the branches. `is_test` of a file comes from its path and from what stands in it (calls
and classes of test frameworks, build tags); of a function or class also from its attributes, as the modifier `test`,
and from the module of tests or the test around it. Generated files are skipped by name and by the marks that generators
write (`@generated`, `Code generated … DO NOT EDIT`) in the comments above the first line of code.

What a grammar does not know costs the definitions around it nothing: where a file does not parse, parts around its
errors are left out as long as that brings definitions back, and what is still lost is read by its indentation. What was
left out stays in the canonical source. Items in the braces of a macro (`cfg_if!`, `pin_project!`) are read as if the
macro were not there.

Every file has a second witness that reads no grammar: its lines that look like a definition, outside of comments and
texts. Where no symbol of such a line's name has it among its lines, the file is read again without what hides it; what
is not read then either is counted. `codesum index`, `codesum status` and the `symbols` asset say how many definitions
that are and name their lines, and the tool `read` those of a file that it is asked for ("2 definitions here could not
be read: lines 40, 97").

Of a zsh file (`.zsh`, `.zshrc`, `#!/bin/zsh`), which Bash's grammar reads, each function is read alone where the file
does not parse; one with none is indexed as text. A type has the bases that are given to it elsewhere too (`impl Trait
for Type`, Swift's extensions, Haskell's instances, `Class.include(Module)`); what Rust's `#[derive]` or a Haskell
quasi-quote makes is not read. Of more than 200 functions of one name in one place, a call is ambiguous.

"""

NOTEBOOKS = """
## Notebooks

A notebook (`.ipynb`, nbformat 3 or 4) is read as a script of its cells, in the language of its kernel: code as it
stands, text as comments, above each cell a line that editors know (`# %% cell 3 [markdown]`). Functions, classes, calls
and imports are found as in any file of that language; nothing can import a notebook. A language without a grammar is
indexed as text. The first title and the first paragraph after it document the notebook.

- **Places.** Lines are those of the script. Beside them hits, lines, documents and pages say the place as Jupyter shows
  it: `churn.ipynb:40-45 (cell 3, line 2)`, in JSON `cell` and `cell_line`. Cells of all kinds are counted, from 1.
- **What is not read**: outputs, counters, ids, metadata, attachments, raw cells. They are passed over in the bytes. A
  notebook that was only run again changes no document and no published file, and plots cost no more than reading their
  bytes.
- **Magics** (`%matplotlib inline`, `!pip install …`, `model.fit?`) are blank lines. A cell in another language
  (`%%bash`, `%%html`) is a comment. A pasted image in a text is cut.
- **Sizes.** The setting `max_file_size_mb` is about what the cells say (16 MB at most). With its outputs, a notebook
  may have 50 MB.
- **A notebook that cannot be read** (no JSON, another nbformat, wrong types) is skipped for the reason `notebook`;
  `codesum index` and `codesum status` name it and say why.
"""

BESIDE = Path(__file__).with_name("beside_a_compiler.md").read_text(encoding="utf-8")


def page() -> str:
    """The whole page."""
    return HEAD + _overview() + NOTEBOOKS + "\n" + BESIDE + "\n".join(map(_section, sorted(declarations(), key=_name)))


def _name(declaration: Declaration) -> str:
    return profile_of(declaration.spec.name).title.lower()


def _overview() -> str:
    rows = [
        "| language | files | grammar | docs | imports | types known | packages |",
        "|---|---|---|---|---|---|---|",
    ]
    for declaration in sorted(declarations(), key=_name):
        docs = "any comment right above"
        docs = docs if not declaration.doc_marks else f"{_code(declaration.doc_marks)}, else {docs}"
        docs = "docstrings" if declaration.docstrings else docs
        rows.append(
            _row(
                declaration.spec,
                docs,
                "yes" if declaration.imports else "",
                "yes" if declaration.typed or declaration.references else "",
                "yes" if declaration.package else "",
            )
        )
    return "\n".join(rows) + "\n"


def _row(spec: LanguageSpec, *cells: str) -> str:
    files = " ".join(f".{extension}" for extension in profiles()[spec.name].extensions)
    grammar = f"{spec.distribution} {version(spec.distribution)}"
    return f"| {profile_of(spec.name).title} | {files} | {grammar} | " + " | ".join(cells) + " |"


def _section(declaration: Declaration) -> str:
    lines = [
        ("definitions", _code(declaration.definitions)),
        ("clauses of one function", _code(declaration.clauses)),
        ("belongs to what follows", _code(declaration.preambles)),
        ("documents the file", _code(declaration.file_doc_marks)),
        ("branches", _code(declaration.spec.branches)),
        ("calls", _code([*declaration.calls, *declaration.callees])),
        ("raises", _code([*declaration.raises, *declaration.raising_calls])),
        ("fields", _code([*declaration.fields, *declaration.members])),
        ("imports", _code(declaration.imports)),
        ("types said by", _code(declaration.typed)),
        ("package from", _code(declaration.package)),
        ("exports from", _code(declaration.exports)),
        ("globals from", _code(declaration.globals)),
        ("inheritance from elsewhere", _code(declaration.extensions)),
        ("public by the list", _code(declaration.listed)),
        ("inheritance", "bases" if _has_hook(declaration, "bases") else ""),
        ("documentation that is code", "yes" if _has_hook(declaration, "inner_doc") else ""),
    ]
    shown = "".join(f"- {name}: {value}\n" for name, value in lines if value)
    return f"## {profile_of(declaration.spec.name).title}\n\n{shown}"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(set(names)))


def _has_hook(declaration: Declaration, hook: str) -> bool:
    default: Callable[..., object] = next(field.default for field in fields(Declaration) if field.name == hook)
    return getattr(declaration, hook) is not default


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
