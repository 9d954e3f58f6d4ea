"""Scala as people write it: the first half with braces, the second by indentation."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = '''\
/*
 * Copyright 2024 The Authors.
 */
package com.example
package store

import java.io.IOException
import scala.collection.mutable.{ArrayBuffer, Map => MutableMap, Set => _}
import com.example.log._

/**
 * Keeps items in memory.
 *
 * @tparam T what is kept
 */
@deprecated("old", "1.0")
sealed abstract class Store[+T <: Item : Ordering](private val repo: Repo[T], var size: Int = 3, name: => String)(
  implicit ec: Executor
) extends Base[T](name) with Finder {
  type Elem = T
  private[this] val items = new ArrayBuffer[T]() // never null
  lazy val owner: Owner = Owner("all")
  private val rank = (item: T, by: Int) => item.rank + by
  val label: PartialFunction[Kind, String] = {
    case Book => "book"
    case Film => "film"
  }
  val listener = new Listener with Closeable {
    override def close(): Unit = items.clear()
  }

  def this(repo: Repo[T]) = this(repo, 0, "empty")

  /** Finds an item. */
  override protected def find[A, B](names: String*)(f: A => B = identity)(implicit order: Ordering[A]): Option[B] = {
    for {
      item <- items
      rank = item.rank if rank > 1
    } yield item
    for (i <- 0 until size) log(s"item $i of ${items.size}")
    var at = -1
    while (at < size) {
      at += 1
    }
    if (names.isEmpty) return None
    else if (!closed) forget()
    val text = """
      none
    """
    val shelf = new a.b.Shelf[T](name)
    this.size = shelf.map(_ + 1).filter { book => book.rank > 1 }.size
    items(0) = null
    def twice(number: Int) = number * 2
    names match {
      case Nil => throw new MissingItem("missing")
      case first :: rest if rest.nonEmpty =>
        log(first)
        f(rest)
      case book: Book => book.find(twice(1))
      case found @ Shelf(_, _*) => Some(found)
      case _ => None
    }
  }

  def +(other: Store[T]): Store[T] = this merge other
  implicit def asInt(item: T): Int = item.rank
  def forget(): Unit
}

object Store extends App {
  def apply(name: String) = try { new Store(name) } catch {
    case error: IOException => null
  } finally close()
}

case class Item(name: String, price: Int = 0) extends Ordered[Item]

trait Shape {
  self: Named =>
  def area: Double
  @Test def adds(): Unit = ()
}

package object tools {
  implicit class Rich(val text: String) extends AnyVal {
    def twice = text * 2
  }
}

enum Kind(val label: String) extends Named:
  case Book extends Kind("book")
  case Film, Song
  case Other(text: String)

  def price: Int = 1
end Kind

given byPrice: Ordering[Item] with
  def compare(x: Item, y: Item): Int = x.price - y.price

extension (text: String)
  def shout: String = text.toUpperCase
  private def half = text.take(1)

object Shop:
  opaque type Id = Int
  export tools.{Rich, given}

  inline def sell(item: Item)(using shop: Shop): Boolean =
    if item.price > 1 then
      shop.add(item)
      true
    else false

  def all(items: List[Item]): List[Int] =
    items.map: item =>
      item.price
'''

CONDITIONS = """\
object Decider {
  def decide(mode: Mode, size: Int, ready: Boolean): Unit = {
    if (size < 0) tooSmall()
    else if (size > 9) tooLarge()
    else fits()
    always()
    ready || giveUp()
    mode match {
      case Read | Write => use(mode)
      case Seek(place) if place > 3 => seek(place)
      case other => refuse(other)
    }
    try {
      attempt()
    } catch {
      case error: IOException => recover(error)
      case NonFatal(error) => rescue(error)
    }
    done()
  }
}
"""

OPENING = """\
object Walker {
  def apart(): Unit = {
    // Walk all of it once,
    // in order.

    begin()
    end()
  }

  def whole(): Unit = {
    // Walk all of it once, in order.
    begin()
  }

  def first(): Unit = {
    // Walk all of it once, in order.
    begin()
    end()
  }

  def task(): Unit = {
    // TODO: walk all of it once, in order.

    begin()
    end()
  }

  def code(): Unit = {
    // walk(all, once);

    begin()
    end()
  }
}
"""

CASE = LanguageCase(
    language="scala",
    path="src/main/scala/com/example/store/Store.scala",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n    ")
    .replace('"""\n        none\n      """', '"""\n      none\n    """')
    .replace("(\n    implicit ec: Executor\n)", "(implicit ec: Executor)")
    .replace("{ book => book.rank > 1 }", "{\n            book => book.rank > 1\n        }")
    .replace("@Test def", "@Test\n    def")
    .replace("log(first)\n            f(rest)", "log(first)\n\n            f(rest)")
    .replace("= this merge other", "=\n        this merge other")
    .replace("\n\n", "\n\n\n"),
    commented=SOURCE.replace(" // never null", "")
    .replace("Copyright 2024", "Copyright 2025")
    .replace("      at += 1\n", "      // on\n      at += 1 // more\n")
    .replace("(number: Int)", "(number: /* any */ Int)"),
    edit=("number * 2", "number * 3"),
    edited=frozenset({"Store", "Store::find", "Store::find::twice"}),
    rename=("def sell(", "def trade("),
    renamed={"Shop::sell": "Shop::trade"},
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "tooLarge": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "always": "",
        "giveUp": "not ready",
        "use": "mode is Read or Write",
        "seek": "mode is Seek(place), and place > 3",
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "IOException is caught",
        "rescue": "NonFatal is caught",
        "done": "",
    },
    opening=OPENING,
)
