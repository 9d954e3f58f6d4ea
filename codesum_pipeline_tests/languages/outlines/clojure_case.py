"""Clojure as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

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

(defmethod store/open :memory [_]
  (->MemoryStore (atom {}) 3))

(defprotocol Store
  "Where users are kept."
  (get-one [this id] "One user.")
  (put [this id user]))

(defrecord MemoryStore [users backup]
  Store
  (get-one [_ id]
    (or (get @users id) (get-one backup id)))
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
        "store/open.:memory": ("function", 43, 44),
        "Store": ("class", 46, 49),
        "Store::get-one": ("function", 48, 48),
        "Store::put": ("function", 49, 49),
        "MemoryStore": ("class", 51, 56),
        "MemoryStore::get-one": ("function", 53, 54),
        "MemoryStore::put": ("function", 55, 56),
        "Counter": ("class", 58, 60),
        "Counter::toString": ("function", 60, 60),
        "java::util::Map::get-one": ("function", 64, 64),
        "double-it": ("function", 66, 66),
        "only-here": ("function", 69, 69),
        "app": ("function", 71, 72),
        "a-user-is-found": ("function", 74, 75),
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
        "MemoryStore": ("users", "backup"),
        "Counter": ("total",),
    },
    calls={
        "find-user": ("str.trim", "str.blank?", "parse-user", "store.query"),
        "parse-user": ("parse-user", "merge"),
        "forget": ("swap!",),
        "clean": ("str.trim",),
        "area.:circle": ("*",),
        "store/open.:memory": ("atom",),
        "MemoryStore::get-one": ("get", "get-one"),
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
