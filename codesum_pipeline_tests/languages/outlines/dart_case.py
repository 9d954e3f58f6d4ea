"""Dart as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
// Keeps users, and shows them.

import 'dart:async';

/// How many users a page shows.
const pageSize = 20;

/// Holds users by name.
@immutable
abstract class UserStore<T> extends Store implements Closeable {
  final int _count = 0;
  static const limit = 3;

  UserStore(this.source, {required this.clock});
  UserStore.empty() {
    reset();
  }
  factory UserStore.of(Source source) => UserStore.empty();

  /// Finds a user.
  @override
  Future<User?> find(String id) async {
    final row = await source.query(id);
    if (row == null) {
      return null;
    }
    return parseUser(row);
  }

  int get size => _count;
  set size(int value) {
    _count = value;
  }

  bool operator ==(Object other) => false;
  void _forget();
}

mixin Walker on Animal {
  void walk() {}
}

enum Color {
  red,
  green;

  Color next() => red;
}

extension Blanks on String {
  bool get isBlank => trim().isEmpty;
}

typedef Callback = void Function(int);

// Reads one user
// from a row.
User parseUser(Row row) => User(row);

void main() {
  String indent(int depth) {
    return ' ' * depth;
  }

  runApp(indent(2));
}
"""

CASE = OutlineCase(
    language="dart",
    path="lib/users.dart",
    source=SOURCE,
    found={
        "UserStore": ("class", 9, 37),
        "UserStore::UserStore": ("function", 14, 14),
        "UserStore::UserStore.empty": ("function", 15, 17),
        "UserStore::UserStore.of": ("function", 18, 18),
        "UserStore::find": ("function", 21, 28),
        "UserStore::size": ("function", 30, 30),
        "UserStore::size#4eadf3": ("function", 31, 33),
        "UserStore::==": ("function", 35, 35),
        "UserStore::_forget": ("function", 36, 36),
        "Walker": ("class", 39, 41),
        "Walker::walk": ("function", 40, 40),
        "Color": ("class", 43, 48),
        "Color::next": ("function", 47, 47),
        "Blanks": ("class", 50, 52),
        "Blanks::isBlank": ("function", 51, 51),
        "Callback": ("class", 54, 54),
        "parseUser": ("function", 58, 58),
        "main": ("function", 60, 66),
        "main::indent": ("function", 61, 63),
    },
    documented={
        "UserStore": "Holds users by name.",
        "UserStore::find": "Finds a user.",
        "parseUser": "Reads one user\nfrom a row.",
    },
    fields={"UserStore": ("_count", "limit"), "Color": ("red", "green")},
    calls={
        "UserStore::find": ("source.query", "parseUser"),
        "UserStore::UserStore.empty": ("reset",),
        "main": ("runApp", "indent"),
    },
    private=frozenset({"UserStore::_forget"}),
    constants=("pageSize",),
    edit=("return null;", "throw StateError(id);"),
    edited=frozenset({"UserStore", "UserStore::find"}),
    rename=("parseUser", "readUser"),
    renamed={"parseUser": "readUser"},
    uses=frozenset({("UserStore::find", "parseUser"), ("main", "main::indent")}),
)
