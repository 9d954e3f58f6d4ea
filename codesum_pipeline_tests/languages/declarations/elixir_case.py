"""Elixir as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = '''\
# Carts, and what is in them.

defmodule Shop.Cart do
  @moduledoc """
  Keeps items.

      iex> Shop.Cart.new()
  """

  use GenServer, restart: :temporary
  alias Shop.{Item, Price}
  alias Shop.Repo, as: R
  import Enum, only: [map: 2, sum: 1]
  import Kernel
  require Logger

  @behaviour Shop.Store
  @timeout 5_000
  @type t :: %__MODULE__{items: [Item.t()], on_change: (t -> any)}
  defstruct [:owner, items: []]

  @doc "The price of an item."
  @callback price(item :: Item.t(), keyword) :: integer | nil

  @doc "Starts a cart."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(opts \\\\ []), do: GenServer.start_link(__MODULE__, opts, name: __MODULE__)

  @doc """
  Adds an item.

    Twice, if it must be.
  """
  @impl true
  def add(cart, item)

  def add(%__MODULE__{items: items} = cart, %Item{} = item) when is_list(items) do
    items = [item | items] |> Enum.sort_by(& &1.name) |> Enum.map(fn x -> x.price end)

    case R.insert(item) do
      {:ok, %{id: id}} when id > 0 ->
        %{cart | items: items}

      {:error, reason} ->
        Logger.warning("no #{inspect(reason)}", cart[:owner][:name]) # loud
        raise ArgumentError, "bad"

      _ ->
        if item.free?, do: 1, else: -2
    end
  rescue
    error in [RuntimeError] -> reraise error, __STACKTRACE__
  after
    :ok
  end

  def add(_, nil), do: nil

  def add(cart), do: add(cart, nil)

  defp left <~> right do
    Enum.reduce(left, right, fn
      {:x, 1}, total -> total
      _, total -> y = 1; total + y
    end)
  end

  defmacro twice(do: block) do
    quote do
      unquote(block)
      log -1, 1..10//2
    end
  end

  def valid?(cart) do
    with {:ok, owner} <- owner(cart),
         limit = @timeout do
      owner.limit < limit and not cart.closed
    else
      nil -> false
      _ -> true
    end

    unless cart do
      send(self(), {:closed, ~w(a b)a})
    else
      <<first::8, _::binary>> = "abc"
      cond do
        first > 1 -> &valid?/1
        true -> (first + 1) * 2
      end
    end
  end

  # Not for others.
  defguardp is_small(n) when n < 10
  defdelegate size(cart), to: Shop.Item, as: :len

  defimpl Enumerable, for: Shop.Cart do
    def count(_), do: {:ok, 0}
  end

  for name <- [:a, :b] do
    def unquote(name)(), do: unquote(name)
  end
end

defmodule Shop.CartTest do
  use ExUnit.Case

  describe "add/2" do
    @tag :slow
    test "adds it", %{cart: cart} do
      assert Shop.Cart.add(cart, nil) == nil
    end
  end
end
'''

CONDITIONS = """\
defmodule Decider do
  def decide(mode, size, ready) do
    if size < 0 do
      too_small()
    else
      fits()
    end

    unless ready, do: wait()
    always()
    ready || give_up()

    case mode do
      :read -> read_it()
      {:seek, place} when place > 3 -> seek(place)
      _ -> refuse(mode)
    end

    cond do
      size > 3 -> many()
      true -> few()
    end

    try do
      attempt()
    rescue
      error in RuntimeError -> recover(error)
    end

    :ok
  end

  def guarded(size) when size > 3 do
    several(size)
    :ok
  end
end
"""

OPENING = """\
defmodule Walker do
  def apart() do
    # Walk all of it once,
    # in order.

    start()
    stop()
  end

  def whole() do
    # Walk all of it once, in order.
    start()
  end

  def first() do
    # Walk all of it once, in order.
    start()
    stop()
  end

  def task() do
    # TODO: walk all of it once, in order.

    start()
    stop()
  end

  def code() do
    # walk(all, once);

    start()
    stop()
  end
end
"""

CASE = LanguageCase(
    language="elixir",
    path="lib/shop/cart.ex",
    source=SOURCE,
    reformatted=SOURCE.replace("def add(cart, item)\n\n  def", "def add(cart, item)\n  def")
    .replace("    items = [item | items] |>", "      items =\n        [item | items]\n        |>")
    .replace(" |> Enum.map(fn x -> x.price end)", "\n        |> Enum.map(fn x ->\n          x.price\n        end)")
    .replace("->\n        %{cart | items: items}\n\n", "-> %{cart | items: items}\n")
    .replace("y = 1; total", "y = 1\n        total")
    .replace("if item.free?, do: 1, else: -2", "if item.free?,\n          do: 1,\n          else: -2")
    .replace("owner(cart),\n         limit", "owner(cart), limit")
    .replace("nil -> false\n", "nil ->\n        false\n\n"),
    commented=SOURCE.replace(" # loud", "")
    .replace("    :ok\n  end", "    # whatever happens\n    :ok # at last\n  end")
    .replace("      _, total ->", "      # all others\n      _, total ->"),
    edit=("first + 1", "first + 2"),
    edited=frozenset({"Shop::Cart", "Shop::Cart::valid?"}),
    rename=("defmacro twice(", "defmacro thrice("),
    renamed={"Shop::Cart::twice": "Shop::Cart::thrice"},
    is_braced=False,
    conditions=CONDITIONS,
    when={
        "too_small": "size < 0",
        "fits": "not (size < 0)",
        "wait": "not ready",
        "always": "",
        "give_up": "not ready",
        "read_it": "mode is :read",
        "seek": "mode is {:seek, place}, and place > 3",
        "refuse": "mode is anything else",
        "many": "size > 3",
        "few": "",
        "attempt": "",
        "recover": "RuntimeError is caught",
        "several": "size > 3",
    },
    opening=OPENING,
)
