"""JavaScript as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
#!/usr/bin/env node
/**
 * Copyright 2024 The Authors. All rights reserved.
 */

/**
 * A cart and the page that shows it.
 */
'use strict'

import React, { memo, useCallback as callback } from 'react'
import * as money from './money.js'
import './cart.css'

export * from './items.js'
export { format as show, default as Money } from './money.js'

const LIMIT = 1_000, RATE = /^\\d+(?:\\.\\d+)?$/u
const { log, level: wanted } = require('./log')

/** Asks the shop. */
export const api = {
  base: '/api',
  /** Reads the items of a shop. */
  get: async (path, { retries = 3 } = {}) => {
    for (let i = 0; i < retries; i++) {
      try {
        return await fetch(`${api.base}/${path}?n=${i + 1}`)
      } catch {
        continue
      }
    }
    throw new Error('no answer: ' + path)
  },
  post(path, body) { return send(path, body) },
  'put-back': function (path) { delete this[path] },
}

/**
 * What somebody wants to buy.
 */
export class Cart extends money.Account {
  static #count = 0
  items = new Map()
  onChange = (event) => { this.items = event.items }

  static {
    Cart.#count = 1
  }

  constructor(owner, ...items) {
    super(owner)
    this.owner = owner
    for (const item of items) this.add(item)
  }

  get total() { return this.items.size ? this.#sum() : 0 }
  set total(value) { throw new TypeError(`total is ${value}`) }

  #sum() {
    let sum = 0
    this.items.forEach((item) => { sum += item.price })
    return sum
  }

  async *[Symbol.asyncIterator]() {
    for await (const item of this.items) yield* item.parts
  }

  add(item) {
    if (!item) return this
    else if (this.items.has(item.id)) item.count++
    else this.items.set(item.id, item)
    return this?.changed?.(item) ?? this
  }
}

Cart.prototype.clear = function () { this.items.clear() }

function kind(item) {
  switch (item.kind) {
    case 'book':
    case 'film': { return 'media' }
    default:
      return -item.kind
  }
}

export const Row = memo(function Row({ item, onPick, ...rest }) {
  const pick = callback(() => onPick(item), [item])
  return (
    <li className="row" {...rest} onClick={pick}>
      {item.name}, for <b>{money.show(item.price)}</b>
      &nbsp;each
      <Icon.Star on={item.liked} />
    </li>
  )
})

;(function boot(root) {
  label: do { root.next() } while (!root.done)
})(document.body)

export default () => <Row item={null} />
"""

CONDITIONS = """\
function decide(mode, size, ready) {
  if (size < 0) {
    tooSmall();
  } else if (size > 9) {
    tooLarge();
  } else {
    fits();
  }
  if (!ready) return wait();
  always();
  const chosen = size === 1 ? one() : several();
  ready || giveUp();
  const given = mode ?? standard();
  switch (mode) {
    case "read":
    case "write":
      use(mode);
      break;
    default:
      refuse(mode);
  }
  try {
    attempt();
  } catch (error) {
    recover(error);
  }
}
"""

OPENING = """\
function apart() {
  // Walk all of it once,
  // in order.

  begin();
  end();
}

function whole() {
  // Walk all of it once, in order.
  begin();
}

function first() {
  // Walk all of it once, in order.
  begin();
  end();
}

function task() {
  // TODO: walk all of it once, in order.

  begin();
  end();
}

function code() {
  // walk(all, once);

  begin();
  end();
}
"""

CASE = LanguageCase(
    language="javascript",
    path="shop/cart.js",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n      ")
    .replace("{ return send(path, body) }", "{\n    return send(path, body)\n  }")
    .replace("async (path, { retries = 3 } = {}) =>", "async (\n    path,\n    {retries=3}={}\n  ) =>")
    .replace("throw new Error('no answer: ' + path)", "throw new Error(\n      'no answer: ' + path\n    )")
    .replace("      &nbsp;each\n", "   &nbsp;each\n\n")
    .replace('<li className="row"', '<li\n      className="row"\n     ')
    .replace("\n\nfunction kind", "\n\n\n\nfunction kind"),
    commented=SOURCE.replace("    let sum = 0", "    // nothing yet\n    let sum = 0 /* cents */")
    .replace("    for await", "    /* each */ for await")
    .replace("      return -item.kind", "      // others\n      return -item.kind"),
    edit=("return 'media'", "return 'medium'"),
    edited=frozenset({"kind"}),
    rename=("Cart.prototype.clear", "Cart.prototype.empty"),
    renamed={"Cart::clear": "Cart::empty"},
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "tooLarge": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "wait": "not ready",
        "always": "",
        "one": "size === 1",
        "several": "size !== 1",
        "giveUp": "not ready",
        "standard": "mode has no value",
        "use": 'mode is "read" or "write"',
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "an error is caught",
    },
    opening=OPENING,
)
