"""TypeScript as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
import type { Clock } from '@shop/time'
import { type Item, Price as Amount } from './items'
import fs = require('fs')

export type { Clock }
export type Id = string | number
export type Named<T> = Partial<T> & { readonly name: string; rename?(to: string): void }
type Keys<T> = { -readonly [K in keyof T as `get${K & string}`]-?: T[K] extends infer U ? U : never }

/** Keeps things. */
export interface Repo<T extends object = {}> extends Iterable<T>, Disposable {
  (id: Id): T
  new (name: string): Repo<T>
  readonly size: number
  /** Finds one. */
  find(id: Id): Promise<T | undefined>
  find(id: Id, otherwise: T): Promise<T>
  onChange?: (item: T) => void
}

export const enum Kind { Book, Film = 'film' }

declare global {
  interface Window { shop: Shop }
}

export declare function legacy(id: Id): asserts id is string

declare module 'old-shop' {
  export function open(path: string): void
}

export namespace money.format {
  export function cents(amount: Amount): number { return amount.value! * 100 }
}

abstract class Base<T> {
  protected abstract load(id: Id): Promise<T>
}

/** The shop. */
@Injectable({ scope: 'request' })
export class Shop extends Base<Item> implements Repo<Item>, Disposable {
  static readonly instances = new Map<Id, WeakRef<Shop>>()
  declare size: number
  private cache?: Cache<Item>
  @Input() title!: string

  constructor(private readonly repo: Repo<Item>, @Inject(CLOCK) public clock: Clock = systemClock) {
    super()
    this.cache = new Cache<Item>()
  }

  total(items: Item[]): number
  total(...items: [first: Item, ...rest: Item[]]): number
  total(items: any): number {
    let sum = <number>0
    for (const item of items as readonly Item[]) sum += item.price
    return sum satisfies number
  }

  @Cached()
  override async load<K extends keyof Item>(this: Shop, id: Id, key?: K): Promise<Item> {
    const found = this.cache?.get(id)
    if (found !== undefined) return found
    const { read } = await import('./files')
    return this.repo.find(id) as unknown as Promise<Item>
  }

  get [Symbol.toStringTag]() { return 'Shop' }

  protected isOpen = (at: Date): at is OpenDate => this.clock.now() < at
}

export function parse(text: string): Item
export function parse(text: string, strict: true): Required<Item>
export function parse(text: string, strict = false) {
  if (!text) throw new SyntaxError('nothing')
  const item = JSON.parse(text) as Item
  return strict ? { ...item, kind: Kind.Book } : item
}

export const identity = <T,>(value: T): T => value
export default Shop
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
    language="typescript",
    path="shop/shop.ts",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n    ")
    .replace("{ Book, Film = 'film' }", "{\n  Book,\n  Film = 'film'\n}")
    .replace("constructor(private", "constructor(\n    private")
    .replace("{ readonly name: string; rename", "{\n  readonly name: string;\n  rename")
    .replace("@Cached()\n", "@Cached() ")
    .replace("type Id = string | number", "type Id =\n  string | number")
    .replace("Base<T> {", "Base<T>\n{"),
    commented=SOURCE.replace("    super()", "    // first\n    super() /* nothing */").replace(
        "readonly size: number", "readonly size: number // how many"
    ),
    edit=("throw new SyntaxError('nothing')", "throw new SyntaxError('no text')"),
    edited=frozenset({"parse"}),
    rename=("isOpen = ", "isClosed = "),
    renamed={"Shop::isOpen": "Shop::isClosed"},
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
