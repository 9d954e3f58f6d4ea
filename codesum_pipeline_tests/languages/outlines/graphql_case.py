"""GraphQL as people write it: a schema, what adds to it, and a client's operations."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = '''\
# The schema of a lending library, and what its page asks for.

schema {
  query: Query
  mutation: Mutation
}

"""
Who may read a field.
"""
directive @visible(to: Audience! = STAFF) repeatable on FIELD_DEFINITION | OBJECT

"A day, as `2026-11-30`."
scalar Day

# Everything with an address of its own.
interface Entry {
  id: ID!
}

"""
A work that readers borrow.

It stays where its shelf is.
"""
type Volume implements Entry & Priced @key(fields: "id") {
  "The number on its back."
  id: ID!
  title(language: String = "en", short: Boolean): String
  """
  Those who wrote it.
  """
  writers(first: Int = 10): [Writer!]! @visible(to: STAFF)
}

type Writer implements Entry {
  id: ID!
  born: Day
  volumes: [Volume!]!
}

union Finding = Volume | Writer

union Loan =
  | Volume

enum Audience {
  "People who work here."
  STAFF
  READERS @deprecated(reason: "use STAFF")
}

input NewVolume {
  title: String!
  writer: ID!
  on: Day = null
}

type Mutation {
  addVolume(volume: NewVolume!): Volume
}

type Marker

extend type Query {
  find(words: String!): [Finding!]!
}

extend interface Entry {
  seen: Day
}

extend enum Audience {
  GUESTS
}

extend input NewVolume {
  shelf: Int
}

extend union Finding = Marker | Loan

extend scalar Day @specifiedBy(url: "https://example.org/day")

# What the list shows.
query ListVolumes($words: String!, $for: Audience) {
  find(words: $words) {
    ...VolumeRow
    ... on Writer {
      born
    }
  }
}

mutation AddVolume($volume: NewVolume!) {
  addVolume(volume: $volume) {
    ...VolumeRow
  }
}

subscription {
  added
}

fragment VolumeRow on Volume {
  id
  title(language: "en")
}
'''

CASE = OutlineCase(
    language="graphql",
    path="schema/library.graphql",
    source=SOURCE,
    found={
        "visible": ("class", 11, 11),
        "Day": ("class", 14, 14),
        "Entry": ("class", 17, 19),
        "Volume": ("class", 26, 34),
        "Writer": ("class", 36, 40),
        "Finding": ("class", 42, 42),
        "Loan": ("class", 44, 45),
        "Audience": ("class", 47, 51),
        "NewVolume": ("class", 53, 57),
        "Mutation": ("class", 59, 61),
        "Marker": ("class", 63, 63),
        "Query": ("class", 65, 67),
        "Entry#49e908": ("class", 69, 71),
        "Audience#5f8726": ("class", 73, 75),
        "NewVolume#6d9f05": ("class", 77, 79),
        "Finding#1a65d8": ("class", 81, 81),
        "Day#724502": ("class", 83, 83),
        "ListVolumes": ("function", 86, 93),
        "AddVolume": ("function", 95, 99),
        "VolumeRow": ("function", 105, 108),
    },
    documented={
        "visible": "Who may read a field.",
        "Day": "A day, as `2026-11-30`.",
        "Entry": "Everything with an address of its own.",
        "Volume": "A work that readers borrow.\n\nIt stays where its shelf is.",
        "ListVolumes": "What the list shows.",
    },
    fields={
        "Entry": ("id",),
        "Volume": ("id", "title", "writers"),
        "Writer": ("id", "born", "volumes"),
        "Audience": ("STAFF", "READERS"),
        "NewVolume": ("title", "writer", "on"),
        "Mutation": ("addVolume",),
        "Query": ("find",),
        "Entry#49e908": ("seen",),
        "Audience#5f8726": ("GUESTS",),
        "NewVolume#6d9f05": ("shelf",),
    },
    calls={"ListVolumes": ("VolumeRow",), "AddVolume": ("VolumeRow",), "Volume": ()},
    edit=('title(language: "en")', 'title(language: "de")'),
    edited=frozenset({"VolumeRow"}),
    rename=("Writer", "Author"),
    renamed={"Writer": "Author"},
    uses=frozenset(
        {
            ("AddVolume", "VolumeRow"),
            ("Finding", "Volume"),
            ("Finding", "Writer"),
            ("Finding#1a65d8", "Loan"),
            ("Finding#1a65d8", "Marker"),
            ("ListVolumes", "VolumeRow"),
            ("ListVolumes", "Writer"),
            ("Loan", "Volume"),
            ("Mutation", "Volume"),
            ("Volume", "Writer"),
            ("Volume", "visible"),
            ("VolumeRow", "Volume"),
            ("Writer", "Volume"),
        }
    ),
)
