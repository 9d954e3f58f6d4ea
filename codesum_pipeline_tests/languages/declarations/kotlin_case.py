"""Kotlin as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = '''\
/*
 * Copyright 2024 The Authors.
 */
@file:JvmName("Stores")

package com.example.store

import com.example.log.warn as log
import kotlin.math.*
import okio.Path

const val MAX = 3

typealias Handler = (Item) -> Unit

/**
 * Keeps items in memory.
 *
 * @param T what is kept
 */
@Serializable
abstract class Store<out T : Comparable<T>>(
  private val repo: Repo<T>,
  var size: Int = MAX,
  name: String,
) : Base<T>(name), Finder by repo where T : Any {
  private val items = ArrayList<T>() // never null
  lateinit var owner: Owner
  protected val cache: Map<String, T> by lazy { load() }

  val isEmpty get() = items.size == 0

  var title: String = "store"
    get() { return field.trim() }
    private set(value) { field = value }

  val rank = { item: T, by: Int -> item.rank + by }
  val compare: (T, T) -> Int = fun(left: T, right: T): Int { return left.compareTo(right) }
  private val listener = object : Listener(), Closeable {
    override fun close() = this@Store.forget("all")
  }

  init {
    load()
  }

  /** An empty store. */
  constructor(repo: Repo<T>) : this(repo, 0, "empty") {
    this.size = -1
  }

  companion object {
    const val NONE = "none"

    @JvmStatic
    fun create(vararg names: String, block: suspend (Int) -> Unit = {}): Store<Item>? = null
  }

  inner class Cursor {
    fun next(): T? = items.getOrNull(at++)
  }

  /** Finds an item. */
  override suspend fun <R : T> find(name: String, limit: Int?): R where R : Any {
    for ((index, item) in items.withIndex()) {
      if (item.name == name && index !in 1..limit!!) return item as R
      else if (item is Book) continue
    }
    while (size > 0) {
      do size-- while (size % 2 == 0)
    }
    val text = """
      none "$name" of ${items.size}
    """
    val found = Shelf(name).find(name) ?: throw MissingItem("missing: $name\\n")
    items.filter { it.rank > 1 }.map(::Book).forEach { book -> log("a ${book.name}", *book.tags) }
    return when (val kind = found.kind) {
      Kind.BOOK, Kind.FILM -> found as R
      is Unknown -> error("unknown")
      in 3..4 -> {
        items[0] = found
        found
      }
      else -> try { repo.find(name) } catch (e: IOException) { null } finally { close() }
    }
  }

  operator fun plus(other: Store<T>) = apply { owner.add(other) }

  abstract fun forget(name: String)

  @Test
  fun `finds what was added`() {
    fun check(item: Item) = item.name to 1
    run { return@run 1 }
    outer@ for (item in items) { break@outer }
  }
}

data class Item(val name: String, val price: Int = 0)

sealed interface Shape {
  object Empty : Shape
  class Circle(val radius: Double) : Shape
}

enum class Kind(val label: String) : Named {
  /** On paper. */
  BOOK("book") {
    override fun price() = 1
  },
  FILM("film");

  abstract fun price(): Int
}

object Registry : Named {
  internal fun names(): List<String> = listOf("a")
}

infix fun String?.rankedAs(rank: Int): Item = Item(this ?: "", rank)

val List<Item>.total: Int get() = sumOf(Item::price)

inline fun <reified T> make(crossinline block: () -> T): T = block()

fun Store.Companion.empty() = create()
'''

CONDITIONS = """\
fun decide(mode: Mode, size: Int, text: String?) {
    if (size < 0) {
        tooSmall()
    } else if (size > 9) tooLarge()
    else {
        fits()
    }
    always()
    val given = text ?: standard()
    when (mode) {
        READ, WRITE -> use(mode)
        is Seek -> seek(mode)
        else -> refuse(mode)
    }
    when {
        size > 3 -> many()
        else -> few()
    }
    try {
        attempt()
    } catch (error: IOException) {
        recover(error)
    }
}
"""

OPENING = """\
fun apart() {
    // Walk all of it once,
    // in order.

    begin()
    end()
}

fun whole() {
    // Walk all of it once, in order.
    begin()
}

fun first() {
    // Walk all of it once, in order.
    begin()
    end()
}

fun task() {
    // TODO: walk all of it once, in order.

    begin()
    end()
}

fun code() {
    // walk(all, once);

    begin()
    end()
}
"""

CASE = LanguageCase(
    language="kotlin",
    path="src/main/kotlin/com/example/store/Store.kt",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n    ")
    .replace('\n        none "$name" of ${items.size}\n      """', '\n      none "$name" of ${items.size}\n    """')
    .replace("{ load() }", "{\n        load()\n    }")
    .replace("@Test\n    fun", "@Test fun")
    .replace(" { return left.compareTo(right) }", " {\n            return left.compareTo(right)\n        }")
    .replace("items.filter { it.rank > 1 }.map", "items\n            .filter { it.rank > 1 }\n            .map")
    .replace("    else if", "  else if")
    .replace("= items.getOrNull", "=\n            items.getOrNull")
    .replace("\n\n", "\n\n\n"),
    commented=SOURCE.replace(" // never null", "")
    .replace("Copyright 2024", "Copyright 2025")
    .replace("    load()\n", "    // all of it\n    load() // now\n")
    .replace("limit: Int?)", "limit: /* none */ Int?)"),
    edit=("item.rank + by", "item.rank - by"),
    edited=frozenset({"Store", "Store::rank"}),
    rename=("fun <R : T> find(", "fun <R : T> search("),
    renamed={"Store::find": "Store::search"},
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "tooLarge": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "always": "",
        "standard": "text has no value",
        "use": "mode is READ or WRITE",
        "seek": "mode is Seek",
        "refuse": "mode is anything else",
        "many": "size > 3",
        "few": "",
        "attempt": "",
        "recover": "IOException is caught",
    },
    opening=OPENING,
)
