"""As much code as a test wants: small functions that differ, and call one another, in files of several languages."""

from collections.abc import Callable, Mapping

from msgspec import Struct


class _FileLayout(Struct, frozen=True):
    """How a file of a language is called, begins and ends; a function has a name and a number, and calls another."""

    path: str
    begin: Callable[[int], str]
    function: Callable[[str, int, str], str]
    end: str = ""


_LAYOUTS = (
    _FileLayout(
        "service/step{0}.py",
        lambda number: f'"""Step {number} of the service."""\n',
        lambda name, k, other: (
            f"\n\ndef {name}(amount, limit={k}):\n"
            f'    """Bound an amount by {k}."""\n'
            f"    if amount > limit:\n        return {other}(amount - {k})\n    return amount * {k % 7 + 2}\n"
        ),
    ),
    _FileLayout(
        "page/step{0}.js",
        lambda number: f"// Step {number} of the page.\n",
        lambda name, k, other: (
            f"\n/** Shows at most {k} rows. */\nexport function {name}(rows, most = {k}) {{\n"
            f"  if (rows.length > most) {{\n    return {other}(rows.slice(0, {k}));\n  }}\n  return rows;\n}}\n"
        ),
    ),
    _FileLayout(
        "worker/step{0}.go",
        lambda number: f"// Package worker does step {number}.\npackage worker\n",
        lambda name, k, other: (
            f"\n// {name} waits for {k} messages.\nfunc {name}(count int) int {{\n"
            f"\tif count > {k} {{\n\t\treturn {other}(count - {k})\n\t}}\n\treturn count + {k % 5}\n}}\n"
        ),
    ),
    _FileLayout(
        "store/Step{0}.java",
        lambda number: f"package store;\n\n/** Step {number} of the store. */\npublic class Step{number} {{\n",
        lambda name, k, other: (
            f"\n    /** Keeps {k} entries. */\n    static int {name}(int size) {{\n"
            f"        if (size > {k}) {{\n            return {other}(size - {k});\n        }}\n"
            f"        return size * {k % 3 + 1};\n    }}\n"
        ),
        "}\n",
    ),
    _FileLayout(
        "jobs/step{0}.rb",
        lambda number: f"# Step {number} of the jobs.\n",
        lambda name, k, other: (
            f"\n# Retries {k} times.\ndef {name}(tries)\n"
            f"  return {other}(tries - {k}) if tries > {k}\n  tries + {k % 9}\nend\n"
        ),
    ),
    _FileLayout(
        "driver/step{0}.c",
        lambda number: f"/* Step {number} of the driver. */\n",
        lambda name, k, other: (
            f"\n/* Reads {k} bytes. */\nint {name}(int bytes)\n{{\n"
            f"    if (bytes > {k})\n        return {other}(bytes - {k});\n    return bytes ^ {k};\n}}\n"
        ),
    ),
)


def generated_code(*, files: int, functions: int, edited: int | None = None) -> Mapping[str, str]:
    """So many files, and functions in each; the function `edited` of each language's first file has another number."""
    found = {}
    for number in range(files):
        layout, place = _LAYOUTS[number % len(_LAYOUTS)], number // len(_LAYOUTS)
        parts = [
            layout.function(
                _name(place, each),
                place * functions + each + (1_000_000 if place == 0 and each == edited else 0),
                _name(place, (each + 1) % functions),
            )
            for each in range(functions)
        ]
        found[layout.path.format(place)] = "".join([layout.begin(place), *parts, layout.end])
    return found


def _name(place: int, number: int) -> str:
    return f"bound_{place}_{number}"
