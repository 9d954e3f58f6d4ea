"""Java as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = '''\
/*
 * Copyright 2024 The Authors.
 */
package com.example.store;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.*;

/**
 * Keeps items in memory.
 *
 * @param <T> what is kept
 */
@SuppressWarnings({"unchecked", "rawtypes"})
public abstract sealed class Store<T extends Comparable<T> & Cloneable> extends Base<T>
    implements Finder<T>, java.io.Serializable permits MemoryStore {

  private static final int MAX = 3, SIZES[] = {1, 2};
  private final List<T> items = new ArrayList<>(); // never null
  private final Function<String, Integer> length = name -> name.length();

  static final Comparator<Item> BY_NAME =
      new Comparator<Item>() {
        @Override
        public int compare(Item left, Item right) {
          return left.name.compareTo(right.name);
        }
      };

  static {
    load();
  }

  /** An empty store. */
  protected Store() {
    this(MAX);
  }

  protected Store(int size, @Nullable Item... first) throws IOException {
    super(size);
    this.size = size;
  }

  @Override
  public <R extends T> R find(String name) {
    for (int i = 0, j = MAX; i < j; i++, --j) {
      if (items.get(i) == null) continue;
      else if (i > -1) break;
    }
    for (final var item : items) {
      if (item instanceof Item found && !found.name.isEmpty()) {
        return (R) found;
      }
    }
    throw new MissingItem("missing: " + name);
  }

  int rank(Kind kind, Shape shape) {
    switch (kind) {
      case BOOK:
      case FILM:
        log("sold");
        break;
      default:
        return 0;
    }
    int rank = switch (shape) {
      case Circle c when c.radius() > 1 -> 1;
      case Point(int x, var y) -> {
        yield x;
      }
      default -> throw new IllegalStateException();
    };
    return rank > 1 ? rank : -rank;
  }

  void save(List<? super T>... lists) {
    try (var file = open(); other) {
      synchronized (this) {
        items.stream().map(T::name).map(Item::new).filter((a) -> a.price >= 0).forEach(file::write);
      }
    } catch (IOException | RuntimeException e) {
      assert e != null : "no error";
    } finally {
      int[][] sizes = new int[MAX][];
      sizes[0] = new int[] {1, 2};
      sizes[0][1]++;
    }
    Runnable later = () -> {
      super.close();
    };
    do later.run(); while (false);
  }

  /** The kind of an item. */
  enum Kind {
    /** On paper. */
    BOOK(1) {
      @Override
      int price() {
        return 1;
      }
    },
    FILM;

    Kind(int... sizes) {}

    int price() {
      return 0;
    }
  }

  record Item(String name, @Nullable Integer price) implements Comparable<Item> {
    Item {
      requireNonNull(name);
    }
  }

  public interface Finder<T> {
    String NONE = """
        none
          at all
        """;

    /** The item of a name. */
    T find(String name);

    default boolean has(String name) {
      return find(name) != null;
    }
  }

  @interface Slow {
    String why() default "";
  }
}
'''

CONDITIONS = """\
class Decider {
    void decide(String mode, int size, boolean ready) {
        if (size < 0) {
            tooSmall();
        } else if (size > 9) tooLarge();
        else {
            fits();
        }
        if (!ready) {
            waitForIt();
        }
        always();
        int chosen = size == 1 ? one() : several();
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
        } catch (IOException | KeyException error) {
            recover(error);
        }
    }
}
"""

OPENING = """\
class Walker {
    void apart() {
        // Walk all of it once,
        // in order.

        begin();
        end();
    }

    void whole() {
        // Walk all of it once, in order.
        begin();
    }

    void first() {
        // Walk all of it once, in order.
        begin();
        end();
    }

    void task() {
        // TODO: walk all of it once, in order.

        begin();
        end();
    }

    void code() {
        // walk(all, once);

        begin();
        end();
    }
}
"""

CASE = LanguageCase(
    language="java",
    path="src/main/java/com/example/store/Store.java",
    source=SOURCE,
    reformatted=SOURCE.replace("\n      ", "\n            ")
    .replace(
        "\n              none\n                at all\n              ", "\n        none\n          at all\n        "
    )
    .replace("{\n    this(MAX);", "\n  {\n    this(MAX);")
    .replace("@Override\n  public", "@Override public")
    .replace("; else", ";\n      else")
    .replace("new int[] {1, 2}", "new int[]{ 1,\n 2 }")
    .replace("}\n\n  ", "}\n\n\n  "),
    commented=SOURCE.replace(" // never null", "")
    .replace("Copyright 2024", "Copyright 2025")
    .replace("        break;\n", "        break; // done\n")
    .replace("    super(size);", "    // all of it\n    super(/* size */ size);"),
    edit=("return left.name.compareTo(right.name);", "return right.name.compareTo(left.name);"),
    edited=frozenset({"Store", "Store::BY_NAME", "Store::BY_NAME::compare"}),
    rename=("rank(Kind kind", "order(Kind kind"),
    renamed={"Store::rank": "Store::order"},
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "tooLarge": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "waitForIt": "not ready",
        "always": "",
        "one": "size == 1",
        "several": "size != 1",
        "use": 'mode is "read" or "write"',
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "IOException or KeyException is caught",
    },
    opening=OPENING,
)
