"""What files without a parser say of what they hold, and what files of code say beside their definitions' headlines."""

import json

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.data_statements import data_statement, documents_of
from codesum_pipeline.evidence.extractive.extractive_parents import write_file
from codesum_pipeline.evidence.extractive.text_files import write_text_file
from codesum_pipeline.evidence.inputs import FileInput, TextFileInput
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline_tests.evidence.extractive.shown_inputs import child, file_input

IMAGES = '{"images": [{"filename": "a.png", "scale": "1x"}, {"filename": "b.png", "scale": "2x"}]}'
POM = """<project><parent><artifactId>up</artifactId></parent><artifactId>till</artifactId>
<description>Counts coins</description><modules><module>core</module></modules></project>"""
VIEW = """<h1>Reports</h1><table><th>Project</th><th>Owner</th></table>
<%= render partial: 'shared/row', locals: {a: 1} %><%= f.text_field :due_date %>"""
FORM = "---\nname: Bug\nabout: Tell what broke\n---\n### Steps to repeat\n\n### Versions\n"
TEXTS = {
    "an image set": ("A.xcassets/coin.imageset/Contents.json", IMAGES, "json",
                     'Image set "coin" of a.png, b.png.'),
    "an image set of which one size has a file": (
        "A.xcassets/sun.imageset/Contents.json", '{"images": [{"filename": "a.png", "scale": "1x"}, {"scale": "2x"}]}',
        "json", 'Image set "sun" of a.png.'),
    "code of an unknown language": ("a/sun.metal", "#include <metal_stdlib>\n\nfloat ray(float beam) {\nray; beam;\n}",
                                    "text", "File that names ray, beam."),
    "the prose of a template": (
        "a/till.md", "# {{name}} - Till\n\nThe till counts {{what}}.\n\nIt opens at eight in the morning.\n{{#if x}}\n"
        "It stays closed on Sundays and holidays.\n{{/if}}\n", "markdown", "Till: It opens at eight in the morning."),
    "messages of an extension": ("src/_locales/de/messages.json", '{"save": {"message": "Speichern"}}', "json",
                                 '1 text in German, such as "Speichern".'),
    "texts of Rails": ("config/locales/pt-BR.yml", "pt-BR:\n  save: Salvar\n  open: Abrir\n", "yaml",
                       '2 texts in Portuguese (pt-BR), such as "Salvar", "Abrir".'),
    "texts of Android": ("res/values-fr/strings.xml", '<resources><string name="a">Ouvrir</string></resources>',
                         "xml", '1 text in French, such as "Ouvrir".'),
    "texts of Java": ("i18n/texts_es.properties", "save=Guardar\n", "properties",
                      '1 text in Spanish, such as "Guardar".'),
    "texts of gettext": ("locale/it/till.po", 'msgid "Save it"\nmsgstr "Salvalo"\n', "gettext",
                         '1 text in Italian, such as "Save it".'),
    "a list of data": ("a/cases.json", '[{"name": "one coin", "sum": 1}, {"name": "two coins", "sum": 2}]', "json",
                       'List of 2 entries with name, sum, such as "one coin", "two coins".'),
    "data": ("a/till.json", '{"name": "Till 7", "coins": ["cent", "euro"], "open": true, "safe": {"depth": 2}}', "json",
             'Holds name "Till 7", coins (cent, euro), open true, safe (depth).'),
    "settings that nobody should read": ("a/till.yml", "user: anna\npassword: hunter\napi_key: abc\n", "yaml",
                                         "Holds user anna, password, api_key."),
    "a package": ("package.json", '{"name": "till", "description": "Counts coins", "scripts": {"test": "x"}}', "json",
                  "Describes the JavaScript package, its scripts and dependencies. Package till: Counts coins. "
                  "Scripts: test."),
    "services": ("docker-compose.yml", "services:\n  db:\n    image: postgres:15\n  web:\n    build: .\n", "yaml",
                 "Starts together with Docker Compose: db (postgres:15), web."),
    "an action": (".github/actions/x/action.yml", "name: X\ndescription: Counts\nruns:\n  using: node20\n", "yaml",
                  'Action of GitHub "X": Counts.'),
    "a schema": ("coin.json", '{"$schema": "s", "title": "A coin", "properties": {"value": {}}}', "json",
                 "JSON schema of A coin with the properties value."),
    "messages with descriptions": (
        "src/_locales/de/messages.json", '{"save": {"message": "Speichern", "description": "A button"}}', "json",
        '1 text in German, such as "Speichern".'),
    "a drawing": ("coin.svg", '<svg viewBox="0 0 16 8"><path d="M0 0"/></svg>', "xml", 'Drawing "coin" of 16 by 8.'),
    "a build of Maven": ("pom.xml", POM, "xml",
                         "Configures the Maven build. Builds till: Counts coins. Modules: core. Names up."),
    "a build of .NET": ("src/Till.csproj",
                        '<Project><TargetFramework>net8.0</TargetFramework><PackageReference Include="Moq"/></Project>',
                        "xml", "Builds for net8.0. Uses the packages Moq."),
    "another document": ("a.xml", '<tills><till name="north"/><till name="south"/></tills>', "xml",
                         'XML tills of 2 tills, such as "north", "south".'),
    "a template": ("views/index.html.erb", VIEW, "erb",
                   'Template "Reports": a table of Project, Owner; a form of due date; renders row.'),
    "a build of make": ("test/Makefile.am", "TESTS = a.sh b.sh\nTESTS += c.sh\n", "makefile",
                        "Tests a.sh, b.sh, c.sh."),
    "what git leaves out": (".gitignore", "# Logs\n*.log\n!keep.log\nbuild/\n", "",
                            "Lists what git leaves out: *.log, build/."),
    "a table without names": ("a.tsv", "<http://a.b/c>\tkirjat\n<http://a.b/d>\tkunnat\n", "csv", "Table of 2 lines."),
    "a container": ("Dockerfile", "FROM debian:12\nEXPOSE 80\n", "dockerfile",
                    "Builds a container image from debian:12; opens the port 80."),
    "an issue template": (".github/ISSUE_TEMPLATE/bug.md", FORM, "markdown",
                          "Issue template: Bug. Tell what broke. Asks for Steps to repeat, Versions."),
    "a page whose opening says its title again": (
        "docs/open.md", "# Open a till\n\nOpen a till.\n\nNeeds a key and a name.\n", "markdown",
        "Open a till: Needs a key and a name."),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "language", "summary"), TEXTS.values(), ids=TEXTS.keys())
def test_a_file_without_a_parser_says_what_it_holds(path, text, language, summary):
    file = TextFileInput(path, path.rpartition("/")[2], language, text)

    assert write_text_file(file).text.summary == summary


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[" * 200_000),
        ("a.xml", "<a>" * 100_000),
        ("a.xml", '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'),
        ("a.yml", "a: &a [x]\n" + "\n".join(f"k{n}: &k{n} {{<<: [*a, *a]}}" for n in range(500))),
        ("a.html.erb", "<%" * 100_000),
        ("a.properties", " = " * 100_000),
    ],
    ids=["open lists", "open elements", "entities", "merged keys", "open code", "a line of blanks"],
)
def test_broken_and_hostile_files_get_a_short_text(name, text):
    written = write_text_file(TextFileInput(name, name, name.rpartition(".")[2], text)).text.summary

    assert 0 < len(written) <= 600


def told(path: str, *, literals: tuple[str, ...] = (), language: str = "typescript", **fields: object) -> str:
    file: FileInput = replace(file_input(path, **fields), literals=literals, language=language)  # type: ignore[arg-type]
    return write_file(file).text.summary


def test_a_value_is_told_with_its_name_and_address():
    texts = ("zoo-be", "Zoo BE", "https://www.zoo.be/", "*://*.zoo.be/*")

    assert told("src/ZooService.ts", literals=texts, constants=("ZooService",)) == (
        'Defines zoo service, with "Zoo BE" and "https://www.zoo.be/".'
    )


def test_a_command_is_told_by_the_sentence_among_its_values():
    texts = ("power-on", "Power on a resource.")

    assert told("cmd/on.go", literals=texts, constants=("PowerOnCommand",)) == (
        'Defines power on command: "Power on a resource".'
    )


def test_a_file_of_one_class_is_told_by_all_that_is_said_of_the_class():
    class_ = child("Jar", "Keeps cookies; drops old ones. Also holds path.", level=Level.CLASS)
    silent = child("Jar", "Holds path, age.", level=Level.CLASS)
    empty = child(
        "Jar", "Class Jar without members of its own, derived from Box::Base.", level=Level.CLASS, placeholder=True
    )

    assert told("a/jar.ts", children=(class_,)) == "Keeps cookies; drops old ones. Also holds path."
    assert told("a/jar.ts", children=(silent,)) == "Defines jar: holds path, age."
    assert told("a/jar.ts", children=(empty,)) == "Defines jar, derived from Box Base."


def test_what_is_said_of_one_class_is_not_said_of_a_file_of_several():
    jar = child("Jar", "Keeps cookies. Closes itself.", level=Level.CLASS)
    pot = child("Pot", "Boils water.", level=Level.CLASS)

    assert told("a/jar.ts", children=(jar, pot)) == "Keeps cookies; pot: boils water."


def test_an_authors_words_that_only_name_a_file_are_followed_by_what_it_does():
    children = (child("opens", "Opens a till with a key."),)

    assert told("tests/test_till.py", docstring="Unit tests for till.", children=children) == (
        "Unit tests for till. Opens a till with a key."
    )


def test_what_a_method_only_returns_moves_or_leaves_undone_is_no_theme_of_its_file():
    children = (
        child("mergeWith", "Always returns false."),
        child("redo", "Moves to a new parent when estimate."),
        child("fatal", "Ends the process: no stop."),
        child("convertBack", "Converts the back. Raises a not supported exception."),
        child("save", "Writes the till to disk."),
    )
    assert told("src/till.ts", children=children) == "Writes the till to disk."


def test_builds_in_kotlin_name_their_modules_and_libraries():
    settings = told("settings.gradle.kts", literals=("Till", ":app", ":core"), language="kotlin")
    build = told("app/build.gradle.kts", literals=("com.android.library", ":core", "a.b:coins:1.2"), language="kotlin")

    assert settings == "Names the modules of the Gradle build. Modules: app, core."
    assert build == ("Configures the Gradle build. Uses the modules core. Names com.android.library. Libraries: coins.")


def strings(number: int) -> str:
    return "<resources>" + '<string name="a">Hello</string>' * number + "</resources>"


@pytest.mark.parametrize(
    ("path", "text", "language", "summary"),
    [
        ("a.xml", '<?xml version="1.0" encoding="GBK"?><a><b name="c">Tills at the door</b></a>', "xml",
         'XML a of b, such as "Tills at the door", "c".'),
        ("a.xml", '<?xml version="1.0" encoding="foo"?><a><b/><b/></a>', "xml", "XML a of 2 bs."),
        ("res/values/strings.xml", strings(1499), "xml", '1,499 texts, such as "Hello".'),
        ("res/values/strings.xml", strings(1500), "xml", 'More than 1,499 texts, such as "Hello".'),
        ("a.xml", "<a>" + "<b/>" * 1499 + "</a>", "xml", "XML a of 1499 bs."),
        ("a.xml", "<a>" + "<b/>" * 1500 + "</a>", "xml", "XML a of bs."),
        ("values/strings.xml", '<resources><string name="a_key">Hi</string><string name="b">Bye</string></resources>',
         "xml", '1 text, such as "Bye".'),
        ("a.json", json.dumps({f"k{i}": i for i in range(60)}), "json",
         "Holds k0 0, k1 1, k2 2, k3 3, k4 4, k5 5, 54 more."),
        ("a.json", json.dumps({f"k{i}": i for i in range(61)}), "json",
         "Holds k0 0, k1 1, k2 2, k3 3, k4 4, k5 5, and more."),
        ("a.json", '{"secrets": ["hunter"], "names": ["a", "b", "c", "d"]}', "json",
         "Holds secrets, names (a, b, c, and more)."),
        ("locales/de.json", json.dumps({f"k{i}": "Hallo" for i in range(5000)}), "json",
         '5,000 texts in German, such as "Hallo".'),
        ("locales/de.json", json.dumps({f"k{i}": "Hallo" for i in range(5001)}), "json",
         'More than 5,000 texts in German, such as "Hallo".'),
    ],
)  # fmt: skip
def test_what_is_not_read_is_not_counted_and_a_secret_or_an_encoding_is_no_fault(path, text, language, summary):
    file = TextFileInput(path, path.rpartition("/")[2], language, text)

    assert write_text_file(file).text.summary == summary


def test_a_number_that_python_refuses_to_write_is_not_said():
    content = documents_of(f"size = 0x{'f' * 4000}\nopen = true\n", "toml")

    assert data_statement("a.toml", content) == "Holds size, open true"
