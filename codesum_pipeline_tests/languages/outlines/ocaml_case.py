"""OCaml as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
(** Keeps users, and shows them. *)

open Printf
module Log = Logging

(** How many users a page shows. *)
let page_size = 20

(** A user. *)
type user = {
  name : string;  (** as she writes it *)
  mutable age : int;
}

type 'a color =
  | Red
  | Mixed of 'a  (** of several *)

type shape = Circle of float | Square
and corner = int * int

exception Unknown_user of string
(** No user has this name. *)

external now : unit -> float = "unix_time"

(* Adds the years
   that are given. *)
let grow ?(years = 1) user =
  if years > 0 then user.age <- user.age + years

let double = fun x -> x * 2

let (half : int -> int) = fun x -> x / 2

let convert (type a) (value : a) : a = (* as it is *) value

let show = function
  | Red -> "red"
  | Mixed part -> sprintf "mixed %s" part

(** Whether a number is even. *)
let rec even n = n = 0 || odd (n - 1)

and odd n = n <> 0 && even (n - 1)

let ( >>= ) option f = Option.bind option f

let _trace text = Log.debug text

module type STORE = sig
  type t

  val find : t -> string -> user option
  (** Finds a user. *)

  val size : int
end

module Users = struct
  let limit = 3

  let find table id = Hashtbl.find_opt table id

  module Key = struct
    type t = string
  end
end

module Cache (Store : STORE) : STORE with type t = Store.t = struct
  include Store
end

module Names = Set.Make (String)

class virtual counter first =
  object (self)
    inherit base
    val mutable count = first

    (** Counts one more. *)
    method next = count <- count + 1

    method private reset = count <- 0
    method virtual show : unit -> string
  end

class type closable = object
  method close : unit
end

let%test "a user is found" = Users.find table "a" = None

let () =
  let local x = x in
  grow (local user) |> ignore
"""

CASE = OutlineCase(
    language="ocaml",
    path="src/users.ml",
    source=SOURCE,
    found={
        "user": ("class", 10, 13),
        "color": ("class", 15, 17),
        "shape": ("class", 19, 19),
        "corner": ("class", 20, 20),
        "Unknown_user": ("class", 22, 22),
        "now": ("function", 25, 25),
        "grow": ("function", 29, 30),
        "double": ("function", 32, 32),
        "half": ("function", 34, 34),
        "convert": ("function", 36, 36),
        "show": ("function", 38, 40),
        "even": ("function", 43, 43),
        "odd": ("function", 45, 45),
        ">>=": ("function", 47, 47),
        "_trace": ("function", 49, 49),
        "STORE": ("class", 51, 58),
        "STORE::t": ("class", 52, 52),
        "STORE::find": ("function", 54, 54),
        "STORE::size": ("function", 57, 57),
        "Users": ("class", 60, 68),
        "Users::find": ("function", 63, 63),
        "Users::Key": ("class", 65, 67),
        "Users::Key::t": ("class", 66, 66),
        "Cache": ("class", 70, 72),
        "Names": ("class", 74, 74),
        "counter": ("class", 76, 86),
        "counter::next": ("function", 82, 82),
        "counter::reset": ("function", 84, 84),
        "counter::show": ("function", 85, 85),
        "closable": ("class", 88, 90),
        "closable::close": ("function", 89, 89),
        "a user is found": ("function", 92, 92),
    },
    documented={
        "user": "A user.",
        "Unknown_user": "No user has this name.",
        "grow": "Adds the years\nthat are given.",
        "even": "Whether a number is even.",
        "STORE::find": "Finds a user.",
        "counter::next": "Counts one more.",
    },
    fields={
        "user": ("name", "age"),
        "color": ("Red", "Mixed"),
        "shape": ("Circle", "Square"),
        "Users": ("limit",),
        "counter": ("count",),
    },
    calls={
        "show": ("sprintf",),
        "even": ("odd",),
        "odd": ("even",),
        ">>=": ("Option.bind",),
        "_trace": ("Log.debug",),
        "Users::find": ("Hashtbl.find_opt",),
        "a user is found": ("Users.find",),
    },
    private=frozenset({"_trace", "counter::reset"}),
    constants=("page_size",),
    edit=("user.age + years", "user.age + 2 * years"),
    edited=frozenset({"grow"}),
    rename=("let grow", "let age"),
    renamed={"grow": "age"},
    uses=frozenset(
        {
            ("Cache", "STORE"),
            ("STORE::find", "STORE::t"),
            ("STORE::find", "user"),
            ("a user is found", "Users::find"),
            ("even", "odd"),
            ("odd", "even"),
        }
    ),
)
