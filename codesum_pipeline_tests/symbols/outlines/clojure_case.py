"""Clojure as people write it."""

from codesum_pipeline_tests.symbols.outlines.cases import OutlineCase

SOURCE = """\
;; Keeps users, and shows them.

(ns app.users
  (:require [clojure.string :as str]
            [app.store :as store]))

(def page-size 20)
(defonce ^:private cache (atom {}))

(defn find-user
  "Finds a user."
  {:added "1.2"}
  [id & options]
  (let [clean (str/trim id)]
    (when-not (str/blank? clean)
      (parse-user (store/query clean)))))

;; Reads one user
;; from a row.
(defn parse-user
  ([row] (parse-user row {}))
  ([row options]
   (merge row options)))

(defn- forget [id]
  (swap! cache dissoc id))

(defn ^:private ^String clean
  "Without blanks."
  [text]
  (str/trim text))

(defmacro unless
  "Runs the body if the test fails."
  [test & body]
  `(if ~test nil (do ~@body)))

(defmulti area "How big a shape is." :shape)

(defmethod area :circle [{:keys [radius]}]
  (* radius radius 3))

(defprotocol Store
  "Where users are kept."
  (get-one [this id] "One user.")
  (put [this id user]))

(defrecord MemoryStore [users limit]
  Store
  (get-one [_ id]
    (get @users id))
  (put [_ id user]
    (swap! users assoc id user)))

(deftype Counter [^:unsynchronized-mutable total]
  Object
  (toString [_] (str total)))

(extend-type java.util.Map
  Store
  (get-one [this id] (.get this id)))

(def double-it (fn [x] (* 2 x)))

#?(:clj
   (defn only-here [x] x))

(defroutes app
  (GET "/users" [] (find-user "all")))

(deftest a-user-is-found
  (is (= "a" (find-user " a "))))
"""

CASE = OutlineCase(
    language="clojure",
    path="src/app/users.cljc",
    source=SOURCE,
    found={
        "find-user": ("function", 10, 16),
        "parse-user": ("function", 20, 23),
        "forget": ("function", 25, 26),
        "clean": ("function", 28, 31),
        "unless": ("function", 33, 36),
        "area": ("function", 38, 38),
        "area.:circle": ("function", 40, 41),
        "Store": ("class", 43, 46),
        "Store::get-one": ("function", 45, 45),
        "Store::put": ("function", 46, 46),
        "MemoryStore": ("class", 48, 53),
        "MemoryStore::get-one": ("function", 50, 51),
        "MemoryStore::put": ("function", 52, 53),
        "Counter": ("class", 55, 57),
        "Counter::toString": ("function", 57, 57),
        "java::util::Map::get-one": ("function", 61, 61),
        "double-it": ("function", 63, 63),
        "only-here": ("function", 66, 66),
        "app": ("function", 68, 69),
        "a-user-is-found": ("function", 71, 72),
    },
    documented={
        "find-user": "Finds a user.",
        "parse-user": "Reads one user\nfrom a row.",
        "clean": "Without blanks.",
        "unless": "Runs the body if the test fails.",
        "area": "How big a shape is.",
        "Store": "Where users are kept.",
        "Store::get-one": "One user.",
    },
    fields={
        "MemoryStore": ("users", "limit"),
        "Counter": ("total",),
    },
    calls={
        "find-user": ("str.trim", "str.blank?", "parse-user", "store.query"),
        "parse-user": ("parse-user", "merge"),
        "forget": ("swap!",),
        "clean": ("str.trim",),
        "area.:circle": ("*",),
        "MemoryStore::get-one": ("get",),
        "MemoryStore::put": ("swap!",),
        "Counter::toString": ("str",),
        "double-it": ("*",),
        "app": ("GET", "find-user"),
        "a-user-is-found": ("is", "=", "find-user"),
    },
    private=frozenset({"forget", "clean"}),
    constants=("page-size", "cache"),
    edit=("(get @users id)", "(get @users (str id))"),
    edited=frozenset({"MemoryStore", "MemoryStore::get-one"}),
    rename=("(defn parse-user", "(defn read-user"),
    renamed={"parse-user": "read-user"},
    uses=frozenset(
        {
            ("a-user-is-found", "find-user"),
            ("app", "find-user"),
            ("find-user", "parse-user"),
            ("parse-user", "parse-user"),
        }
    ),
)
