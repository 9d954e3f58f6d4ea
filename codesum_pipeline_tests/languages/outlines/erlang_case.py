"""Erlang as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
%% @doc Keeps users, and shows them.
-module(users).
-behaviour(gen_server).
-export([find/1, start_link/0, init/1, old_name/1]).
-export_type([user/0]).
-include("users.hrl").

-define(PAGE_SIZE, 20).
-define(LOG(Text), io:format("~p~n", [Text])).

%% A user, as a row has her.
-record(user, {
    name :: string(),
    age = 0 :: integer()
}).

-type user() :: #user{}.
-opaque key() :: integer().

%% What a store must answer.
-callback fetch(key()) -> {ok, user()}.

%%%===================================================================
%%% API
%%%===================================================================
start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% @doc Finds a user.
-spec find(key()) -> user() | undefined.
find(0) ->
    undefined;
find(Key) when is_integer(Key) ->
    Row = store:fetch(Key),
    case Row of
        undefined -> ?LOG(Key);
        _ -> to_user(Row)
    end.

-doc "Another name of it, which stays.".
old_name(Key) ->
    find(Key).

init([]) ->
    {ok, #user{name = "nobody"}}.

% Reads one user
% from a row.
to_user({Name, Age}) ->
    #user{name = Name, age = Age}.

to_user(Name, Age) ->
    to_user({Name, Age}).

'Odd name'() -> to_user(a, 1).
"""

CASE = OutlineCase(
    language="erlang",
    path="src/users.erl",
    source=SOURCE,
    found={
        "LOG": ("function", 9, 9),
        "user": ("class", 12, 15),
        "user#ae479e": ("class", 17, 17),
        "key": ("class", 18, 18),
        "fetch": ("function", 21, 21),
        "start_link": ("function", 26, 27),
        "find": ("function", 30, 38),
        "old_name": ("function", 40, 42),
        "init": ("function", 44, 45),
        "to_user#0de220": ("function", 49, 50),
        "to_user": ("function", 52, 53),
        "Odd name": ("function", 55, 55),
    },
    documented={
        "user": "A user, as a row has her.",
        "fetch": "What a store must answer.",
        "find": "Finds a user.",
        "old_name": "Another name of it, which stays.",
        "to_user#0de220": "Reads one user\nfrom a row.",
    },
    fields={
        "user": ("name", "age"),
    },
    calls={
        "LOG": ("io.format",),
        "user": (),
        "key": (),
        "fetch": ("key", "user"),
        "start_link": ("gen_server.start_link",),
        "find": ("is_integer", "store.fetch", "LOG", "to_user"),
        "old_name": ("find",),
        "to_user": ("to_user",),
        "Odd name": ("to_user",),
    },
    private=frozenset({"to_user#0de220", "to_user", "Odd name"}),
    constants=("PAGE_SIZE",),
    edit=("undefined -> ?LOG(Key)", "undefined -> ?LOG(Row)"),
    edited=frozenset({"find"}),
    rename=("old_name(Key) ->", "new_name(Key) ->"),
    renamed={"old_name": "new_name"},
    uses=frozenset(
        {
            ("fetch", "key"),
            ("find", "LOG"),
            ("old_name", "find"),
        }
    ),
)
