"""A small project in several languages whose files rest on each other in every way, and random edits of it."""

import random
import re
from collections.abc import Mapping

Files = Mapping[str, str]

PROJECT: Files = {
    "shop/__init__.py": "from .cart import *\nfrom .prices import total_price as total\n__all__ = ['Cart', 'total']\n",
    "shop/cart.py": """\
from shop.base import Record
from shop import prices

registry = None


class Cart(Record):
    kind = "cart"

    def __init__(self, items):
        self.items = items
        self.store = prices.make_store()

    def sum_items(self):
        found = prices.total_price(self)
        return found

    @property
    def owner(self):
        return self.store.owner_of(self)

    def copy(self):
        made = Cart(self.items)
        return made


def open_cart():
    global registry
    registry = Cart([])
    return registry
""",
    "shop/base.py": """\
class Record:
    def save_record(self):
        return self.check()

    def check(self):
        rest = [part for part in (1, 2) if part]
        return self

    def again(self):
        return self.save_record() if self else self.again()
""",
    "shop/prices.py": """\
from shop.stores import Store
from shop import cart


def make_store():
    def inner():
        made = Store()
        return made

    return inner()


def total_price(basket):
    first = cart.open_cart()
    basket.special_offer()
    return first or ping(basket)


def ping(n):
    return pong(n) or make_store()


def pong(n):
    return ping(n) or cart.open_cart()
""",
    "shop/stores.py": """\
from shop.prices import ping, pong


class Store:
    def __init__(self):
        self.last = pong(1)
        other = ping(2)
        self.other = other

    def owner_of(self, thing) -> "Store":
        pong(thing).sum_items()
        return self

    def special_offer(self):
        return [self.owner_of(x) for x in (lambda y: y)(1)]
""",
    "tests/test_cart.py": """\
from shop import *
import shop.stores as stores


def test_sum():
    cart = Cart([])
    assert cart.sum_items() == cart.store.last
    cart.owner.special_offer()
    unknown = input()
    unknown.special_offer()
    total(cart).save_record()
""",
    "web/package.json": '{"name": "web", "main": "./index.ts"}\n',
    "web/index.ts": """\
import { Widget } from "./widget";
export { helper } from "./helper";

const shared: Widget = new Widget();

export function start(): Widget {
  const local = new Widget();
  local.drawAll();
  return shared.next();
}
""",
    "web/widget.ts": """\
import { helper } from "./helper";

export class Widget {
  other: Widget;
  drawAll() {
    const used = helper(this.other);
    return used.next();
  }
  next(): Widget {
    this.other = helper(1);
    return this.other;
  }
}
""",
    "web/helper.ts": """\
import { Widget } from "./widget";

export function helper(n: number): Widget {
  let found = new Widget();
  found.next();
  return found;
}
""",
    "go.mod": "module example.org/mod\n",
    "run/main.go": """\
package main

import "example.org/mod/run/store"

func main() {
	s := store.New()
	s.Put(1)
	helper()
}

func helper() *store.Store {
	t := store.New()
	return t
}
""",
    "run/store/store.go": """\
package store

type Store struct {
	next *Store
}

func New() *Store {
	made := &Store{}
	return made
}

func (s *Store) Put(n int) {
	s.next.Put(n)
	fill(s)
}
""",
    "run/store/fill.go": "package store\n\nfunc fill(s *Store) {\n\ts.next.Put(2)\n\tNew()\n}\n",
    "java/Base.java": """\
package a.b;

public class Base {
  protected Helper helper = new Helper();
  Base self() { return this; }
  void work() { helper.help().self(); var other = new Helper(); other.help(); }
}
""",
    "java/Helper.java": """\
package a.b;

public class Helper extends Base {
  Base help() { work(); self().work(); return new Base(); }
}
""",
    "c/util.h": "struct pair { int a; };\nint add_pair(struct pair *p);\n",
    "c/util.c": '#include "util.h"\nstatic int twice(int a) { return a; }\n'
    "int add_pair(struct pair *p) { return twice(p->a); }\n",
    "c/main.c": '#include "util.h"\nint main(void) { struct pair p; return add_pair(&p) + spare(1); }\n',
    "ruby/a.rb": "require_relative 'b'\nclass A < B\n  def run\n    @b = B.new\n    @b.go\n    helper_one\n  end\n"
    "end\n",
    "ruby/b.rb": "class B\n  def go\n    made = A.new\n    made.run\n  end\n  def helper_one\n  end\nend\n",
    "README.md": "# Mixed\n",
}

_WORD = re.compile(r"[^\W\d]\w*")


def edited(files: Files, chance: random.Random) -> Files:
    """The files after one edit, most of them of a single word or line."""
    operation = chance.choices((_word, _move_line, _drop_line, _come_or_go, _rename), (12, 3, 3, 1, 1))[0]
    return operation(files, chance)


def _word(files: Files, chance: random.Random) -> Files:
    """One word becomes another one of the project's."""
    path = chance.choice(sorted(files))
    places = list(_WORD.finditer(files[path]))
    other = chance.choice(sorted(PROJECT if chance.random() < 0.3 else [path]))
    words = _WORD.findall(PROJECT.get(other, files[path]))
    if not places or not words:
        return files
    place = chance.choice(places)
    text = files[path]
    return {**files, path: text[: place.start()] + chance.choice(words) + text[place.end() :]}


def _move_line(files: Files, chance: random.Random) -> Files:
    """A line is written once more, in its file or in another."""
    path, target = chance.choice(sorted(files)), chance.choice(sorted(files))
    target = chance.choice((path, path, target))
    lines = files[target].splitlines(keepends=True)
    line = chance.choice(files[path].splitlines(keepends=True) or ["\n"])
    place = chance.randrange(len(lines) + 1)
    return {**files, target: "".join([*lines[:place], line, *lines[place:]])}


def _drop_line(files: Files, chance: random.Random) -> Files:
    path = chance.choice(sorted(files))
    lines = files[path].splitlines(keepends=True)
    if len(lines) < 2:
        return files
    place = chance.randrange(len(lines))
    return {**files, path: "".join([*lines[:place], *lines[place + 1 :]])}


def _come_or_go(files: Files, chance: random.Random) -> Files:
    """A file is deleted, or is as it was in the beginning."""
    path = chance.choice(sorted(PROJECT))
    if path in files and len(files) > 8 and chance.random() < 0.5:
        return {other: text for other, text in files.items() if other != path}
    return {**files, path: PROJECT[path]}


def _rename(files: Files, chance: random.Random) -> Files:
    path = chance.choice(sorted(files))
    folder, _, name = path.rpartition("/")
    new = f"{chance.choice(('shop', 'tests', 'web', folder or 'lib'))}/{name}"
    return {new if other == path else other: text for other, text in files.items()}
