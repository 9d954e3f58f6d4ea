"""C++ as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
// Copyright 2024 The Authors. Licensed under the MIT license.

// A store keeps shapes by name.

#ifndef SHAPES_STORE_H_
#define SHAPES_STORE_H_

#include <memory>
#include <string>
#include "shapes/shape.h"

#define SHAPES_CHECK(condition) if (!(condition)) \\
  throw std::logic_error(#condition)

namespace shapes {

using std::string;
using Names = std::vector<string>;

namespace detail {
// Largest number of shapes.
constexpr int kLimit = 1'000;
inline namespace v2 {
template <typename T, int N = 3>
struct Box : Base<T>, private virtual Other {
  T value{};
  T items[N];
};
}  // namespace v2
}  // namespace detail

/// The colors there are.
enum class Color : unsigned char { Red = 1, Green, Blue };

template <typename T>
concept Drawable = requires(T t) {
  t.draw();
  { t.size() } -> std::convertible_to<int>;
};

/**
 * Keeps shapes.
 *
 * @tparam T what a shape is
 */
template <class T>
class SHAPES_EXPORT Store final : public Source<T> {
 public:
  using Handler = std::function<void(const T&)>;

  explicit Store(string name, int limit = detail::kLimit);
  Store(const Store&) = delete;
  virtual ~Store() noexcept override;

  // How many there are.
  int size() const { return static_cast<int>(items_.size()); }

  //! Draws all shapes on a canvas.
  template <Drawable Canvas>
  void draw(Canvas& canvas) const;

  T& operator[](int index) & { return *items_[index]; }
  explicit operator bool() const noexcept { return size() > 0; }
  virtual void clear() = 0;
  friend bool operator==(const Store& a, const Store& b) = default;
  friend std::ostream& operator<<(std::ostream& out, const Store& store) {
    return out << store.name_;
  }

 protected:
  struct Entry {
    string key;
    T* value = nullptr;
  };
#ifdef SHAPES_TRACE
  void trace(const Entry& entry);
#endif

 private:
  string name_;
  std::unique_ptr<T> first_;
  std::vector<std::unique_ptr<T>> items_;
};

template <class T>
Store<T>::Store(string name, int limit) : name_(std::move(name)), first_{nullptr} {
  items_.reserve(limit);
}

template <class T>
Store<T>::~Store() noexcept {}

template <class T>
template <Drawable Canvas>
void Store<T>::draw(Canvas& canvas) const {
  auto each = [&canvas, this](const auto& item) -> bool {
    return item->draw(canvas) && !name_.empty();
  };
  for (const auto& item : items_) {
    if (each(item)) {
      continue;
    } else if (item == nullptr) {
      throw std::runtime_error(R"(no "item")");
    }
  }
  try {
    canvas.finish(first_.get(), -1, sizeof(T));
  } catch (const std::exception& error) {
    delete canvas.release();
  }
}

inline long double operator""_deg(long double value) { return value * 3.14L / 180; }

auto make(const char* name, Color color = Color::Red) -> std::unique_ptr<Shape> {
  Shape* made = new Shape(name);
  made->color = color;
  this_thread->count++;
  return std::unique_ptr<Shape>(made);
}

template <>
struct Traits<Shape> {
  static constexpr bool is_shape = true;
};

namespace {
void helper(int (&numbers)[4], void (*done)(int), auto&&... rest) {
  done(numbers[0] + sizeof...(rest));
}
}  // namespace

TEST(StoreTest, IsEmpty) {
  Store<Shape> store("a");
  EXPECT_EQ(store.size(), 0);
}

}  // namespace shapes

#endif  // SHAPES_STORE_H_
"""

CONDITIONS = """\
int decide(Mode mode, int size, bool ready) {
    if (auto found = look(); found < 0) {
        too_small();
    } else if (size > 9) {
        too_large();
    } else {
        fits();
    }
    always();
    int chosen = size == 1 ? one() : several();
    ready || give_up();
    switch (mode) {
    case Mode::Read:
    case Mode::Write:
        use_it(mode);
        break;
    default:
        refuse(mode);
    }
    try {
        attempt();
    } catch (const std::runtime_error& error) {
        recover(error);
    } catch (...) {
        rescue();
    }
    return chosen;
}
"""

OPENING = """\
void apart(void) {
    // Walk all of it once,
    // in order.

    begin();
    end();
}

void whole(void) {
    // Walk all of it once, in order.
    begin();
}

void first(void) {
    // Walk all of it once, in order.
    begin();
    end();
}

void task(void) {
    // TODO: walk all of it once, in order.

    begin();
    end();
}

void code(void) {
    // walk(all, once);

    begin();
    end();
}
"""

CASE = LanguageCase(
    language="cpp",
    path="shapes/store.h",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n    ")
    .replace("\n    throw std::logic", "\n  throw std::logic")
    .replace("Store& ", "Store &")
    .replace("ostream& ", "ostream &")
    .replace("[&canvas, this]", "[&canvas,\n      this]")
    .replace("template <class T>\n", "template<class T> ")
    .replace(") const {\n", ") const\n{\n")
    .replace("{ Red = 1, Green, Blue }", "{\n  Red = 1,\n  Green,\n  Blue\n}")
    .replace("{ return size() > 0; }", "{\n      return size() > 0;\n    }")
    .replace(
        " : name_(std::move(name)), first_{nullptr} {", "\n    : name_( std::move(name) ),\n      first_{ nullptr }\n{"
    )
    .replace("namespace shapes {\n\n", "namespace shapes\n{\n"),
    commented=SOURCE.replace("}  // namespace shapes", "}")
    .replace("      continue;", "      continue; // the next one")
    .replace("#endif  // SHAPES_STORE_H_", "#endif /* the end */")
    .replace(" private:\n", " private:\n  // What it holds.\n\n"),
    edit=("items_.reserve(limit);", "items_.reserve(limit + 1);"),
    edited=frozenset({"shapes::Store::Store"}),
    rename=("auto make(", "auto build("),
    renamed={"shapes::make": "shapes::build"},
    conditions=CONDITIONS,
    when={
        "look": "",
        "too_small": "found < 0",
        "too_large": "size > 9",
        "fits": "neither found < 0 nor size > 9",
        "always": "",
        "one": "size == 1",
        "several": "size != 1",
        "give_up": "not ready",
        "use_it": "mode is Mode::Read or Mode::Write",
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "std::runtime_error is caught",
        "rescue": "an error is caught",
    },
    opening=OPENING,
)
