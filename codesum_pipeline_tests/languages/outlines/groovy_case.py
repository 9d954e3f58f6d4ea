"""Groovy as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
// Keeps users, and shows them.
package app

import groovy.transform.CompileStatic

/** Holds users by name. */
@CompileStatic
@Slf4j(value = "users")
abstract class UserStore<T extends User> extends Store implements Closeable, Serializable {
    static final int LIMIT = 3
    private final Map<String, List<User>> users = new HashMap<>()
    String name

    /** Makes a store for some users. */
    UserStore(Source source, int limit = LIMIT) throws IOException {
        this.name = source.name
    }

    /**
     * Finds a user.
     */
    @Override
    User find(final String id, @Named("all") boolean all = false) throws NotFound {
        if (all) {
            return null
        }
        for (String key : users.keySet()) {
            log.info(key)
        }
        parseUser(source.query(id))
    }

    abstract Object[] rows(String... ids)

    private void forget() {
        users.collect { it.key }.each { users.remove(it) }
    }

    static <K> K first(List<K> keys) {
        keys[0]
    }

    def "a user is found"() {
        expect:
        find("a") / 2 == 1
    }

    static class Row {
        int number
    }
}

interface Walker {
    void walk(int steps)
}

trait Flying {
    def fly() {
        println "up"
    }
}

@interface Named {
    String value()
}

enum Color {
    int shade() { 1 }
}

// Reads one user
// from a row.
User parseUser(java.util.Map row) {
    new User(row.name as String, (int) row.age)
}

def twice = { number -> number * 2 }
pageSize = 20
def limit = 5

task showUsers {
    println parseUser([:])
}

task copyUsers(type: Copy) {
    from "users"
}
"""

CASE = OutlineCase(
    language="groovy",
    path="src/UserStore.groovy",
    source=SOURCE,
    found={
        "UserStore": ("class", 7, 51),
        "UserStore::UserStore": ("function", 15, 17),
        "UserStore::find": ("function", 22, 31),
        "UserStore::rows": ("function", 33, 33),
        "UserStore::forget": ("function", 35, 37),
        "UserStore::first": ("function", 39, 41),
        "UserStore::a user is found": ("function", 43, 46),
        "UserStore::Row": ("class", 48, 50),
        "Walker": ("class", 53, 55),
        "Walker::walk": ("function", 54, 54),
        "Flying": ("class", 57, 61),
        "Flying::fly": ("function", 58, 60),
        "Named": ("class", 63, 65),
        "Named::value": ("function", 64, 64),
        "Color": ("class", 67, 69),
        "Color::shade": ("function", 68, 68),
        "parseUser": ("function", 73, 75),
        "twice": ("function", 77, 77),
        "showUsers": ("function", 81, 83),
        "copyUsers": ("function", 85, 87),
    },
    documented={
        "UserStore": "Holds users by name.",
        "UserStore::UserStore": "Makes a store for some users.",
        "UserStore::find": "Finds a user.",
        "parseUser": "Reads one user\nfrom a row.",
    },
    fields={
        "UserStore": ("LIMIT", "users", "name"),
        "UserStore::Row": ("number",),
    },
    calls={
        "UserStore": ("HashMap",),
        "UserStore::find": ("users.keySet", "log.info", "parseUser", "source.query"),
        "UserStore::forget": ("users.collect", "each", "users.remove"),
        "Flying::fly": ("println",),
        "parseUser": ("User",),
        "showUsers": ("println",),
        "copyUsers": ("from",),
    },
    private=frozenset({"UserStore::forget"}),
    constants=("limit",),
    edit=("log.info(key)", "log.warn(key)"),
    edited=frozenset({"UserStore", "UserStore::find"}),
    rename=("User parseUser(java", "User readUser(java"),
    renamed={"parseUser": "readUser"},
    uses=frozenset(
        {
            ("UserStore::find", "parseUser"),
        }
    ),
)
