"""F# as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
/// Keeps users, and shows them.
module Shop.Users

open System
open Shop.Text

/// How many users a page shows.
[<Literal>]
let PageSize = 20

let first, second = 1, 2

/// A user.
[<CLIMutable>]
type User =
    { /// As she writes it.
      Name: string
      mutable Age: int }

    /// Whether she is old.
    member user.IsOld = user.Age > 60

type Shape =
    | Circle of radius: float
    | Square of float * float
    | Empty

    static member Default = Empty

type Level =
    | Low = 0
    | High = 1

type Id = string
type Handler = delegate of int -> unit

[<Measure>]
type kg

/// No user has this name.
exception UnknownUser of string

type IStore =
    inherit IDisposable
    /// Finds a user.
    abstract Find: id: string -> User option
    abstract Size: int with get

type Store(path: string, ?size: int) as this =
    inherit Base(path)
    let mutable count = 0
    let load id = Disk.read path id

    new() = new Store("users")
    member val Title = "" with get, set
    member _.Load(id: string) : User option = load id
    member private this.Forget() = count <- 0
    static member (+)(one: Store, other: Store) = one

    interface IStore with
        member _.Find id =
            if count > 0 && id <> "" then load id else None

        member _.Size = count

and [<AllowNullLiteral>] Shelf(store: IStore) =
    override _.ToString() = "shelf"

type System.String with
    /// The text in capitals.
    member text.Shout() = text.ToUpper()

// Adds the years
// that are given.
let grow (years: int) (user: User) : User =
    let add age = age + years
    { user with Age = add user.Age }

let half = fun x -> x / 2
let twice = half >> half

let rec even n =
    if n = 0 then true else odd (n - 1)

and private odd n =
    if n = 0 then false else even (n - 1)

let (|Even|Odd|) n = if even n then Even else Odd
let inline (>>=) value f = Option.bind f value
let ``shows a user`` () = Assert.True true

type MaybeBuilder() =
    member _.Bind(value, f) = value >>= f
    member _.Return value = Some value

let maybe = MaybeBuilder()

(* What a page shows. *)
module internal Pages =
    let limit = 3

    let show (users: User list) =
        maybe {
            let! user = List.tryHead users
            return user |> grow 1
        }

module Names = Shop.Text.Names

[<DllImport("clock")>]
extern int64 now()
"""

CASE = OutlineCase(
    language="f-sharp",
    path="src/Users.fs",
    source=SOURCE,
    found={
        "Users": ("class", 2, 111),
        "Users::User": ("class", 14, 21),
        "Users::User::IsOld": ("function", 21, 21),
        "Users::Shape": ("class", 23, 28),
        "Users::Shape::Default": ("function", 28, 28),
        "Users::Level": ("class", 30, 32),
        "Users::Id": ("class", 34, 34),
        "Users::Handler": ("class", 35, 35),
        "Users::kg": ("class", 37, 38),
        "Users::UnknownUser": ("class", 41, 41),
        "Users::IStore": ("class", 43, 47),
        "Users::IStore::Find": ("function", 46, 46),
        "Users::IStore::Size": ("function", 47, 47),
        "Users::Store": ("class", 49, 64),
        "Users::Store::load": ("function", 52, 52),
        "Users::Store::new": ("function", 54, 54),
        "Users::Store::Load": ("function", 56, 56),
        "Users::Store::Forget": ("function", 57, 57),
        "Users::Store::+": ("function", 58, 58),
        "Users::Store::Find": ("function", 61, 62),
        "Users::Store::Size": ("function", 64, 64),
        "Users::Shelf": ("class", 66, 67),
        "Users::Shelf::ToString": ("function", 67, 67),
        "Users::String": ("class", 69, 71),
        "Users::String::Shout": ("function", 71, 71),
        "Users::grow": ("function", 75, 77),
        "Users::half": ("function", 79, 79),
        "Users::twice": ("function", 80, 80),
        "Users::even": ("function", 82, 83),
        "Users::odd": ("function", 85, 86),
        "Users::|Even|Odd|": ("function", 88, 88),
        "Users::>>=": ("function", 89, 89),
        "Users::shows a user": ("function", 90, 90),
        "Users::MaybeBuilder": ("class", 92, 94),
        "Users::MaybeBuilder::Bind": ("function", 93, 93),
        "Users::MaybeBuilder::Return": ("function", 94, 94),
        "Users::Pages": ("class", 99, 106),
        "Users::Pages::show": ("function", 102, 106),
        "Users::now": ("function", 110, 111),
    },
    documented={
        "Users": "Keeps users, and shows them.",
        "Users::User": "A user.",
        "Users::User::IsOld": "Whether she is old.",
        "Users::UnknownUser": "No user has this name.",
        "Users::IStore::Find": "Finds a user.",
        "Users::String::Shout": "The text in capitals.",
        "Users::grow": "Adds the years\nthat are given.",
        "Users::Pages": "What a page shows.",
    },
    fields={
        "Users": ("PageSize", "first", "second", "maybe"),
        "Users::User": ("Name", "Age"),
        "Users::Shape": ("Circle", "Square", "Empty"),
        "Users::Level": ("Low", "High"),
        "Users::Store": ("count", "Title"),
        "Users::Pages": ("limit",),
    },
    calls={
        "Users": ("MaybeBuilder",),
        "Users::Store::load": ("Disk.read",),
        "Users::Store::new": ("Store",),
        "Users::Store::Load": ("load",),
        "Users::Store::Find": ("load",),
        "Users::String::Shout": ("text.ToUpper",),
        "Users::grow": ("add",),
        "Users::twice": ("half",),
        "Users::even": ("odd",),
        "Users::odd": ("even",),
        "Users::|Even|Odd|": ("even",),
        "Users::>>=": ("Option.bind",),
        "Users::shows a user": ("Assert.True",),
        "Users::MaybeBuilder::Return": ("Some",),
        "Users::Pages::show": ("maybe", "List.tryHead", "grow"),
    },
    private=frozenset(["Users::Store::load", "Users::Store::Forget", "Users::odd", "Users::Pages"]),
    edit=("age + years", "age + 2 * years"),
    edited=frozenset({"Users", "Users::grow"}),
    rename=("let grow", "let age"),
    renamed={"Users::grow": "Users::age"},
    uses=frozenset(
        {
            ("Users", "Users::MaybeBuilder"),
            ("Users::IStore::Find", "Users::User"),
            ("Users::Pages::show", "Users::User"),
            ("Users::Pages::show", "Users::grow"),
            ("Users::Shelf", "Users::IStore"),
            ("Users::Store", "Users::IStore"),
            ("Users::Store::Find", "Users::Store::load"),
            ("Users::Store::Load", "Users::Store::load"),
            ("Users::Store::Load", "Users::User"),
            ("Users::Store::new", "Users::Store"),
            ("Users::even", "Users::odd"),
            ("Users::grow", "Users::User"),
            ("Users::odd", "Users::even"),
            ("Users::twice", "Users::half"),
            ("Users::|Even|Odd|", "Users::even"),
        }
    ),
)
