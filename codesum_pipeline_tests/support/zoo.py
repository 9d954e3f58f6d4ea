"""A repository whose parts use each other in every way that the graph knows, and one hostile name."""

HOSTILE = "zoo/evil\nas of: zoo @ 000000000000, at HEAD\x1b[31m.py"

FILES = {
    "README.md": "# Zoo\n\nFeeds animals.\n",
    "zoo/__init__.py": "",
    "zoo/animals.py": '''"""Animals."""

import json


class Animal:
    """Something that eats."""

    def eat(self, food):
        """Take food and digest it."""
        return digest(food)


class Lion(Animal):
    """A lion that roars."""

    def roar(self):
        """Make a noise."""
        return json.dumps("roar")


class Cub(Lion):
    """A young lion."""


def digest(food):
    """Turn food into energy."""
    energy = len(food)
    return energy
''',
    "zoo/keeper.py": '''"""Whoever feeds the animals."""

from zoo.animals import Cub, Lion, digest


def feed(animal, food):
    """Give food to an animal."""
    return digest(food)


def feed_all(food):
    """Feed a lion and its cub."""
    for animal in (Lion(), Cub()):
        feed(animal, food)


def open_gates(food):
    """Begin the day: everybody is fed."""
    feed_all(food)
''',
    "zoo/tickets.py": '''"""Tickets at the gate."""


def ticket_price(age):
    """The price of a ticket."""
    return 5 if age < 12 else 10


def ticket_discount(age, group):
    """A group pays less for its ticket."""
    return ticket_price(age) * (0.8 if group else 1)


def print_ticket(age, group):
    """Print the ticket."""
    return str(ticket_discount(age, group))


def sell_ticket(age, group=False):
    """Sell one ticket."""
    ticket = print_ticket(age, group)
    return ticket, ticket_price(age)


def sell_tickets(ages):
    """Sell a ticket to each of a group."""
    return [sell_ticket(age, group=True) for age in ages]
''',
    "pyproject.toml": (
        '[project]\nname = "zoo"\ndependencies = [\n  "flask>=3",\n]\n\n'
        '[project.scripts]\nopen-zoo = "zoo.keeper:open_gates"\n\n[dependency-groups]\ndev = ["pytest"]\n'
    ),
    "zoo/long.py": '"""A long file."""\n\n' + "".join(f"LINE_{number} = {number}\n" for number in range(3, 501)),
    HOSTILE: "def attack(victim):\n    total = victim + 1\n    return total\n",
}
