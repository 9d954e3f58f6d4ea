"""Small repositories of one family of languages whose few names mean many things in many files, changed at random."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Sources = dict[str, str]


@dataclass(frozen=True)
class Vocabulary:
    """What files are made of: `imports`, other `items`, and `values` of expressions, with words in braces; `head` is
    what a file begins with; `projects` are the texts that project files may have."""

    paths: Sequence[str]
    imports: Sequence[str]
    items: Sequence[str]
    values: Sequence[str]
    words: Mapping[str, Sequence[str]]
    head: Callable[[str], str] = lambda _: ""
    projects: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass
class CodeMix:
    """Files as lists of items, each some lines; changed step by step."""

    chance: random.Random
    vocabulary: Vocabulary
    files: dict[str, list[str]] = field(default_factory=dict)
    projects: Sources = field(default_factory=dict)

    @classmethod
    def of_seed(cls, seed: int, vocabulary: Vocabulary) -> "CodeMix":
        """A repository in which each file has some items."""
        mix = cls(random.Random(seed), vocabulary)
        for path in vocabulary.paths:
            kinds = (vocabulary.imports, vocabulary.imports, *[vocabulary.items] * mix.chance.randrange(4, 12))
            mix.files[path] = [mix.item(kind) for kind in kinds]
        mix.projects = {path: texts[0] for path, texts in vocabulary.projects.items()}
        return mix

    @property
    def sources(self) -> Sources:
        """The text of each file."""
        texts = {path: "\n".join([*items, ""]) for path, items in self.files.items()}
        return {path: self.vocabulary.head(path) + text for path, text in texts.items()} | self.projects

    def item(self, items: Sequence[str] = ()) -> str:
        """Some lines that mean something to other files, or ask for something of them."""
        words = {kind: self.chance.choice(words) for kind, words in self.vocabulary.words.items()}
        value = self.chance.choice(self.vocabulary.values).format(**words)
        return self.chance.choice(items or self.vocabulary.items).format(**words, value=value)

    def change(self) -> None:
        """Change one thing: an item, or a file that comes, goes or gets another name."""
        changes = (self._put, self._drop, self._swap, self._come_or_go, self._rename, self._change_project)
        self.chance.choices(changes, (8, 4, 2, 1, 1, 1))[0]()

    def _put(self) -> None:
        items = self.files[self.chance.choice([*self.files])]
        if items and self.chance.random() < 0.6:
            items[self.chance.randrange(len(items))] = self.item()
        else:
            items.insert(self.chance.randrange(len(items) + 1), self.item())

    def _drop(self) -> None:
        items = self.files[self.chance.choice([*self.files])]
        if items:
            del items[self.chance.randrange(len(items))]

    def _swap(self) -> None:
        items = self.files[self.chance.choice([*self.files])]
        self.chance.shuffle(items)

    def _come_or_go(self) -> None:
        path = self.chance.choice(self.vocabulary.paths)
        if self.files.pop(path, None) is None or len(self.files) < 4:
            self.files[path] = [self.item() for _ in range(3)]

    def _rename(self) -> None:
        path, other = self.chance.choice([*self.files]), self.chance.choice(self.vocabulary.paths)
        self.files[other] = self.files.pop(path)

    def _change_project(self) -> None:
        for path in self.chance.sample([*self.vocabulary.projects], k=min(1, len(self.vocabulary.projects))):
            self.projects[path] = self.chance.choice(self.vocabulary.projects[path])
