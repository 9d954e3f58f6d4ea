"""What a component is called: after its file, as it is written in markup."""

import re

# A file of these names is its folder's.
_INDEX = ("index", "Index")
# What frameworks add to a file's name to say where its code runs.
_SIDES = frozenset(("client", "server"))
_WORD = re.compile(r"[^\W_]+")


def component_name(path: str) -> str:
    """`UserCard` of `user-card.vue`; of `Card/index.vue` its folder; `BlogPage` of SvelteKit's `blog/+page.svelte`."""
    folder, _, file = path.rpartition("/")
    stem = file.rpartition(".")[0]
    name = _pascal(stem)
    if stem.startswith("+"):
        name = _pascal(folder.rpartition("/")[2]) + name
    elif stem in _INDEX:
        name = _pascal(folder.rpartition("/")[2]) or name
    return name if name[:1].isalpha() else f"Page{name}"


def _pascal(written: str) -> str:
    words = _WORD.findall(written)
    shown = words[:1] + [word for word in words[1:] if word not in _SIDES]
    return "".join(word[:1].upper() + word[1:] for word in shown)
