"""C as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
/* Copyright (c) 2024, The Authors. All rights reserved. */

/* A list of items, kept in the order in which they came. */

#include <stdlib.h>
#include "list.h" // our own

#define LIST_MAX 64
#define LIST_EACH(list, item) for (struct item *item = (list)->head; \\
    item != NULL; item = item->next)
#define UNUSED(x) (void)(x)

#ifdef __cplusplus
extern "C" {
#endif

/**
 * \\brief What an item is.
 */
typedef enum {
    KIND_BOOK, /* paper */
    KIND_FILM,
#ifdef WITH_GAMES
    KIND_GAME,
#endif
} item_kind;

/* One thing. */
struct item {
    struct item *next;
    const char *name;
    unsigned int flags : 3;
    union {
        int pages;
        double minutes;
    } size;
};

typedef struct list {
    struct item *head, *tail;
    int (*compare)(const struct item *a, const struct item *b);
    size_t lengths[2];
} list;

static int counter = 0;
static const char *names[] = {"book", "film"};

/* Makes an empty list, to be freed by list_free(). */
LIST_API list *list_new(int (*compare)(const struct item *, const struct item *));

/* Two names compare as strings do. */
static inline int compare_names(const char *a, const char *b)
{
    return strcmp(a, b);
}

list *list_new(int (*compare)(const struct item *, const struct item *))
{
    list *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    *made = (list){.head = NULL, .compare = compare};
    made->lengths[0]++;
    counter += 1;
    return made;
}

/* Adds an item at the end.
 * Returns how many there are. */
int list_add(list *l, struct item *it, ...) {
    int i, n = 0;
    for (i = 0; i < LIST_MAX; i++) {
        if (l->tail && -i < n || it == NULL) {
            l->tail->next = it;
        } else if (n-- > 0) {
            continue;
        } else {
            goto done;
        }
    }
#if defined(DEBUG) && DEBUG > 1
    log_item("added", it);
#else
    UNUSED(it);
#endif
    for (struct item *each = l->head; each; each = each->next)
        n++;
    switch (it->flags) {
    case KIND_BOOK:
    case KIND_FILM: {
        n += 2;
        break;
    }
    default:
        l->compare(it, it);
    }
done:
    do {
        it = it->next;
    } while (it && (n & 1) != 0);
    return n ? n : ~n;
}

/* A comparison by kind. */
int (*comparison(item_kind kind))(const char *, const char *)
{
    return kind == KIND_BOOK ? &compare_names : NULL;
}

long old_style(a, b)
    int a;
    char *b;
{
    return a + (long)*b;
}

#ifdef __cplusplus
}
#endif
"""

CONDITIONS = """\
int decide(int mode, int size, int ready) {
    if (size < 0) {
        too_small();
    } else if (size > 9) {
        too_large();
    } else {
        fits();
    }
    if (!ready) {
        return wait_for_it();
    }
    always();
    int chosen = size == 1 ? one() : several();
    switch (mode) {
    case READ:
    case WRITE:
        use_it(mode);
        break;
    default:
        refuse(mode);
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
    language="c",
    path="src/list.c",
    source=SOURCE,
    reformatted=SOURCE.replace("    int (*compare)", "    int  ( *compare ) ")
    .replace("\n{\n", " {\n")
    .replace("        ", "\t")
    .replace("    ", "  ")
    .replace("for (i = 0; i < LIST_MAX; i++) {", "for(i=0;i<LIST_MAX;i++)\n  {")
    .replace("const char *a, const char *b", "const char* a,\n    const char* b")
    .replace("} else {", "}\n  else\n  {")
    .replace("struct item *head, *tail;", "struct item* head, * tail;")
    .replace('{"book", "film"}', '{\n  "book",\n  "film"\n}')
    .replace("\n  item != NULL", "\n    item != NULL")
    .replace("#define LIST_MAX 64", "# define  LIST_MAX  64 ")
    .replace("    return strcmp", "return strcmp")
    .replace("\n\nlist *list_new", "\n\n\n\nlist* list_new"),
    commented=SOURCE.replace(" // our own", "")
    .replace("/* paper */", "// made of paper")
    .replace("#endif\n    for (struct", "#endif /* DEBUG */\n    /* once more */\n    for (struct")
    .replace("        n += 2;", "        n += 2; // two of them"),
    edit=("n += 2;", "n += 3;"),
    edited=frozenset({"list_add"}),
    rename=("old_style(", "older_style("),
    renamed={"old_style": "older_style"},
    conditions=CONDITIONS,
    when={
        "too_small": "size < 0",
        "too_large": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "wait_for_it": "not ready",
        "always": "",
        "one": "size == 1",
        "several": "size != 1",
        "use_it": "mode is READ or WRITE",
        "refuse": "mode is anything else",
    },
    opening=OPENING,
)
