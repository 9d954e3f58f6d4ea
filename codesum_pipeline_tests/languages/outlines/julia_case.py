"""Julia as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = r'''
# Keeps users, and shows them.

"""
    Users

Everything about users.
"""
module Users # of a shop

using Base: show
export User, find_user

const PAGE_SIZE = 20
const Names{T} = Vector{T}

abstract type AbstractUser end
primitive type Small <: Integer 8 end

"A user, as a row has it."
Base.@kwdef mutable struct User{T} <: AbstractUser
    "Its name."
    name::String
    age::T = 0
    tags
    const id::Int

    User(name) = new{Int}(name, 0, [], 1)
    function User{T}(name, age) where {T}
        new{T}(name, age, [], 1)
    end
end

struct Store <: AbstractDict{String, User}
    users::Dict{String, User}
end

@enum Color red green
@enum Size::UInt8 begin
    small
    large = 3
end

"""
    find_user(store, name)

Find a user by its name.
"""
function find_user(store::Store, name::AbstractString; strict = false)::User # may throw
    user = get(store.users, _key(name), nothing)
    user === nothing && strict ? error("no user") : user
end

# Users are found
# without regard to case.
_key(name) = lowercase(name)

@inline function each(f::F, store) where {F <: Function}
    wrapped(user) = f(user)
    for (name, user) in store.users
        wrapped(user)
    end
end

"How many users there are."
@inline Base.length(store::Store)::Int = length(store.users)
Base.show(io::IO, user::User{T}) where {T} = print(io, user.name)
function Base.:(==)(a::User, b::User)
    a.name == b.name
end
+(a::Store, b::Store) = merge(a, b)
(store::Store)(name) = find_user(store, name)
function (::Type{Small})(x::Int)
    reinterpret(Small, UInt8(x))
end
function greet end

@doc raw"""
    greet(user)

Greets with $\pi$.
"""
greet(user::User) = Greetings.hello.(user.name)

"Runs a block with a user."
macro with_user(ex)
    quote
        $(esc(ex))
    end
end

@generated function fields(x)
    :(fieldnames(x))
end

const double = x -> 2x

end # module

parse_user(row::String) = Users.User(split(row, ",")[1])

@testset "a user has a name" begin
    @test parse_user("Ada,36").name == "Ada"
end

🍭(user) = parse_user(user)
'''.lstrip()

CASE = OutlineCase(
    language="julia",
    path="src/users.jl",
    source=SOURCE,
    found={
        "Users": ("class", 8, 97),
        "Users::AbstractUser": ("class", 16, 16),
        "Users::Small": ("class", 17, 17),
        "Users::User": ("class", 20, 31),
        "Users::User::User": ("function", 27, 27),
        "Users::User::User#6ff672": ("function", 28, 30),
        "Users::Store": ("class", 33, 35),
        "Users::Color": ("class", 37, 37),
        "Users::Size": ("class", 38, 41),
        "Users::find_user": ("function", 48, 51),
        "Users::_key": ("function", 55, 55),
        "Users::each": ("function", 57, 62),
        "Users::each::wrapped": ("function", 58, 58),
        "Users::Base.length": ("function", 65, 65),
        "Users::Base.show": ("function", 66, 66),
        "Users::Base.==": ("function", 67, 69),
        "Users::+": ("function", 70, 70),
        "Users::Store#0591e7": ("function", 71, 71),
        "Users::Type{Small}": ("function", 72, 74),
        "Users::greet#7e0de7": ("function", 75, 75),
        "Users::greet": ("function", 82, 82),
        "Users::with_user": ("function", 85, 89),
        "Users::fields": ("function", 91, 93),
        "Users::double": ("function", 95, 95),
        "parse_user": ("function", 99, 99),
        "testset.a user has a name": ("function", 101, 103),
        "🍭": ("function", 105, 105),
    },
    documented={
        "Users": "Users\n\nEverything about users.",
        "Users::User": "A user, as a row has it.",
        "Users::find_user": "find_user(store, name)\n\nFind a user by its name.",
        "Users::_key": "Users are found\nwithout regard to case.",
        "Users::Base.length": "How many users there are.",
        "Users::greet": "greet(user)\n\nGreets with $\\pi$.",
        "Users::with_user": "Runs a block with a user.",
    },
    fields={
        "Users": ("PAGE_SIZE",),
        "Users::User": ("name", "age", "tags", "id"),
        "Users::Store": ("users",),
        "Users::Color": ("red", "green"),
        "Users::Size": ("small", "large"),
    },
    calls={
        "Users::find_user": ("get", "_key", "error"),
        "Users::each": ("wrapped",),
        "Users::greet": (),
        "parse_user": ("Users.User", "split"),
    },
    private=frozenset({"Users::_key"}),
    constants=(),
    edit=("merge(a, b)", "merge(b, a)"),
    edited=frozenset({"Users", "Users::+"}),
    rename=("parse_user", "read_user"),
    renamed={"parse_user": "read_user"},
    uses=frozenset(
        {
            ("Users::+", "Users::Store"),
            ("Users::Base.==", "Users::User"),
            ("Users::Base.length", "Users::Store"),
            ("Users::Base.show", "Users::User"),
            ("Users::Store#0591e7", "Users::find_user"),
            ("Users::User", "Users::AbstractUser"),
            ("Users::each", "Users::each::wrapped"),
            ("Users::find_user", "Users::Store"),
            ("Users::find_user", "Users::User"),
            ("Users::find_user", "Users::_key"),
            ("Users::greet", "Users::User"),
            ("parse_user", "Users::User"),
            ("testset.a user has a name", "parse_user"),
            ("🍭", "parse_user"),
        }
    ),
)
