"""Lua as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
#!/usr/bin/env lua
-- Accounts, and what moves between them.

local json = require("lib.json")
local Base = require 'base'

local LIMIT = 100

--- A bank account.
local Account = setmetatable({}, { __index = Base })

--- Makes an account.
-- @param name string
function Account.new(name, ...)
  local self = setmetatable({}, Account)
  self.name, self.total = name, 0
  local log = Logger.new("account")
  log:info("made " .. name, ...)
  return self
end

-- Puts money in.
-- Negative amounts are refused.
function Account:deposit(amount)
  if amount < 0 then
    error("negative: " .. amount)
  elseif amount == 0 then return false
  else
    self.total = self.total + amount -- in cents
  end
  for i = 1, #self.hooks do
    self.hooks[i](self, -amount)
  end
  for _, hook in pairs(self.more) do hook(self) end
  while self.total > LIMIT do
    break
  end
  repeat
    amount = amount - 1
  until amount <= 0
  return true, self.total
end

local function round(x)
  local half = function(y) return y / 2 end
  return math.floor(half(x) ^ 2 + 0.5)
end

Account.close = function(self)
  self.total = nil
  goto done
  ::done::
end

local handlers = {
  limit = 3,
  open = function(account) return account end,
  ["close"] = Account.close,
}

Savings = Account:extend()

local text = [[
  kept
    as written]]

return { Account = Account, round = round, text = text }
"""

CONDITIONS = """\
local function decide(mode, size, ready)
  if size < 0 then
    too_small()
  elseif size > 9 then
    too_large()
  else
    fits()
  end
  if not ready then
    return wait()
  end
  always()
  local chosen = ready and one() or several()
end
"""

OPENING = """\
local function apart()
  -- Walk all of it once,
  -- in order.

  begin()
  stop()
end

local function whole()
  -- Walk all of it once, in order.
  begin()
end

local function first()
  -- Walk all of it once, in order.
  begin()
  stop()
end

local function task()
  -- TODO: walk all of it once, in order.

  begin()
  stop()
end

local function code()
  -- walk(all, once);

  begin()
  stop()
end
"""

CASE = LanguageCase(
    language="lua",
    path="lib/account.lua",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n\t")
    .replace("\t  kept\n\t  as", "  kept\n    as")
    .replace("[[\n\tkept\n\t  as", "[[\n  kept\n    as")
    .replace("then return false\n", "then\n\t\treturn false\n")
    .replace("do hook(self) end", "do\n\t\thook(self)\n\tend")
    .replace("function(y) return y / 2 end", "function(y)\n\t\treturn y / 2\n\tend")
    .replace("\n\nlocal function round", "\n\n\n\nlocal function round"),
    commented=SOURCE.replace(" -- in cents", " --[[ in cents ]]").replace(
        "  self.total = nil\n", "  -- nothing is left\n  self.total = nil\n"
    ),
    edit=("half(x) ^ 2", "half(x) ^ 3"),
    edited=frozenset({"round"}),
    rename=("Account:deposit", "Account:pay"),
    renamed={"Account::deposit": "Account::pay"},
    is_braced=False,
    conditions=CONDITIONS,
    when={
        "too_small": "size < 0",
        "too_large": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "wait": "not ready",
        "always": "",
        "one": "ready",
        "several": "not (ready and one())",
    },
    opening=OPENING,
)
