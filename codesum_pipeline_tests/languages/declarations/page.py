"""What docs/languages.md must be."""

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from codesum_pipeline.evidence.extractive.known_calls import known_calls
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of, profiles
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline.languages.declarations.spec import LanguageSpec
from codesum_pipeline.languages.outlines.outline_table import (
    CALL,
    CONSTANT,
    FIELD,
    TYPE,
    OutlineTable,
    compiled_query,
    outline_tables,
)

HEAD = """# Languages

Files of these languages are parsed with tree-sitter into functions and classes; every other text file is indexed as a
file. There are two tiers, and [components](#components):

| | first tier: read deep | second tier: [read by a table](#the-second-tier) |
|---|---|---|
| definitions: kinds, names, nesting, lines, signatures | yes | yes |
| documentation | comments and docstrings, by the language's rules | comments right above, and what the table says |
| what no grammar knows (macros, dialects) | is read around; what is lost is counted | is lost, and no more |
| a change of comments or of layout | is no change | is one |
| fields, constants, calls, types that are named | with types, values and conditions | their names |
| parameters, results, errors, conditions | yes | no |
| effects of known calls (files, network, databases) | yes | in EFFECTS |
| imports and bases | resolved | no |
| calls in the graph | by imports and types | in the same file, or by the only definition of that name |
| who calls a route, a command, a hook of a framework | yes | no |
| tests | by path and by code | by path |

*Reference, written from the code*: the declarations in `codesum_pipeline/languages/declarations/` and the tables in
`codesum_pipeline/languages/outlines/`.

## The first tier

A type is known from what the source says at the place (`x: Foo`, `x = new Foo()`), never guessed. Whether a file is
test code follows from its path and from calls and classes of test frameworks in it. Generated files are skipped by
their names and by marks in their first comments (`@generated`, `Code generated … DO NOT EDIT`).

Where a file does not parse, parts around its errors are left out as long as that brings definitions back, and what is
still lost is read by its indentation. Items in the braces of a macro (`cfg_if!`) are read as if the macro were not
there. Lines that look like a definition and are in no symbol are counted: `codesum index`, `codesum status` and the
tool `read` name them ("2 definitions here could not be read: lines 40, 97").

A type also has the bases that are given to it elsewhere (`impl Trait for Type`, Swift's extensions, Haskell's
instances); what Rust's `#[derive]` or a Haskell quasi-quote makes is not read.

"""

SECOND_TIER = """## The second tier

A language of this tier is a table in `codesum_pipeline/languages/outlines/`: a query of tree-sitter with the captures
of its [tags files](https://tree-sitter.github.io/tree-sitter/4-code-navigation.html). Its grammar comes from the
package `semble-grammars`, which unpacks it into a folder of the user's cache when a file first needs it; the variable
`SEMBLE_GRAMMARS_CACHE_DIR` names another folder. A grammar whose name begins with `tree-sitter-` is in a package of
that name. Where a grammar cannot be loaded, the build names the files, reads them as texts, and tries again the next
time. The table of SQL has patterns in place of a query: no grammar knows the dialects that people write.

A file without any definition is indexed as a text. A file's text keeps all its words; the lines of a definition are
those of the file without empty ones. A call is resolved where its name is defined once: in the file, or in all files
of the language. What stands before a name may be a class, or a file without its ending (`Store.find`, `lists:map`).

"""

COMPONENTS = """## Components

A file of Vue, Svelte or Astro is one component. The grammar of its language (from the same package as those of the
second tier) finds its scripts, and the deep parsers of JavaScript, TypeScript and TSX read them on their real lines.

| | Vue | Svelte | Astro |
|---|---|---|---|
| code of the component | `<script setup>`, the default export | `<script>` | the frontmatter, scripts in the page |
| code beside it, for others | `<script>` | `<script module>`, `context="module"` | what the frontmatter exports |
| properties | `defineProps`, `defineModel`, `props` | `export let`, `$props()` | `Props`, `Astro.props` |
| events | `defineEmits`, `emits`, `$emit("…")` | `createEventDispatcher`, `on:…` without a handler | |
| slots | `<slot name="…">` | `<slot name="…">` | `<slot name="…">` |

The component is a class, and its signature is `component UserCard`. Its name is that of its file, written as in
markup: `user-card.vue` is `UserCard`, `Card/index.vue` is `Card`, `blog/+page.svelte` is `BlogPage`. Its fields are
its properties, events (`event save`) and slots (`slot footer`), with the types that its script says. What documents
it is a comment of Svelte with `@component`, else the first comment at the top of the file, else the one above the
default export or at the top of the script. Functions that run for each use of the component stand in it
(`UserCard::save`), also those of `methods` and `computed`; those of its modules stand beside it.

An element that is made of a component is a call of that component, as in JSX, and an expression in the markup is code
of the component: it calls and names functions. What markup binds (the item of a loop, what a slot passes) is no name
of the script. The element's name is looked up among the imports; `<user-card>` is `UserCard` in Vue. Only Vue knows
components without an import, which a program or Nuxt registers: there the only component of that name is meant. `@/`,
`~/` and `$lib/` are the folders that the tools of Vue, Nuxt and SvelteKit mean, where no `tsconfig.json` says
otherwise.

Of the text of a file, the markup belongs to the component and the styles to the file alone: a change of a style
changes only the file's document, and one of the markup that and the component's. An indent in either changes nothing.

What cannot be read is named by the build, with its line, and the rest of the file is read: a second script of the
same kind, a script in another language than JavaScript and TypeScript, one without an end, a template that is not
HTML. A script in another file (`src="…"`) is an import.
"""

NOTEBOOKS = """## Notebooks

A notebook (`.ipynb`, nbformat 4) is read as a script of its cells, in the language of its kernel: code as it
stands, text as comments, above each cell a line that editors know (`# %% cell 3 [markdown]`). Functions, classes,
calls and imports are found as in any file of that language; nothing can import a notebook. A language without a
grammar is indexed as text. The first title and the first paragraph after it document the notebook.

- **Places.** Lines are those of the script. Beside them hits, lines, documents and pages say the place as Jupyter
  shows it: `churn.ipynb:40-45 (cell 3, line 2)`, in JSON `cell` and `cell_line`. Cells of all kinds are counted, from
  1.
- **What is not read**: outputs, counters, ids, metadata, attachments, raw cells. They are passed over in the bytes. A
  notebook that was only run again changes no document and no published file, and plots cost no more than reading
  their bytes.
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
    tiers = HEAD + _overview() + "\n" + SECOND_TIER + _outlines()
    known = [profile_of(name).title for name in outline_tables() if known_calls(name) is not None]
    tiers = tiers.replace("EFFECTS", ", ".join(sorted(known)))
    return tiers + "\n" + COMPONENTS + "\n" + NOTEBOOKS + "\n" + BESIDE


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
                docs.replace("|", "\\|"),
                "yes" if declaration.imports else "",
                "yes" if declaration.typed or declaration.references else "",
                "yes" if declaration.package else "",
            )
        )
    return "\n".join(rows) + "\n"


def _outlines() -> str:
    """The languages of the second tier: what is a definition, and what else the query of each captures."""
    told = {CALL: "calls", TYPE: "types that are named", FIELD: "fields", CONSTANT: "constants", "branch": "complexity"}
    rows = ["| language | files | grammar | definitions | also |", "|---|---|---|---|---|"]
    for name, table in sorted(outline_tables().items(), key=lambda entry: profile_of(entry[0]).title.lower()):
        captures = _captures(table)
        profile = profiles()[name]
        files = " ".join([*(f".{extension}" for extension in profile.extensions), *profile.file_names])
        also = [word for capture, word in told.items() if capture in captures]
        if table.hidden or {"private", "local"} & captures:
            also.append("private names")
        grammar = "none: by patterns" if table.marks else table.grammar
        rows.append(f"| {profile.title} | {files} | {grammar} | {table.definitions} | {', '.join(also)} |")
    return "\n".join(rows) + "\n"


def _captures(table: OutlineTable) -> set[str]:
    """What a table finds."""
    if table.marks is not None:
        return {CALL, TYPE, FIELD, "branch"}
    query = compiled_query(table)
    return {query.capture_name(number) for number in range(query.capture_count)}


def _row(spec: LanguageSpec, *cells: str) -> str:
    files = " ".join(f".{extension}" for extension in profiles()[spec.name].extensions)
    grammar = f"{spec.distribution} {version(spec.distribution)}"
    return f"| {profile_of(spec.name).title} | {files} | {grammar} | " + " | ".join(cells) + " |"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(set(names)))
