"""Which words of a name are verbs, and how they are conjugated."""

from collections.abc import Sequence
from functools import lru_cache

from codesum_pipeline.summaries.extractive.word_lists import word_set

# Verbs that names of functions open with; a plain word list, so that a noun is never conjugated.
VERBS = word_set(
    """
    ascend descend
    abort accept accumulate acquire activate adapt add adjust advance aggregate align allocate allow amend
    analyze analyse annotate announce answer append apply approve archive arrange ask assemble assert assign
    associate attach authenticate authorize await backup balance begin bind bisect block boot bootstrap
    broadcast browse build bump calculate call cancel canonicalize capitalize capture cast catch categorize
    center chain change check choose clamp claim classify clean cleanup clear click clip clone close coalesce
    coerce collapse collect combine commit compact compare compile complete compose compress compute concat
    concatenate configure confirm connect consolidate construct consume contract convert copy correct count
    cover crawl create crop cut deactivate debug decide decode decompress decorate decrease decrement decrypt
    dedent deduplicate dedupe defer define deflate degrade delegate delete deliver denormalize deploy deprecate
    dequeue derive describe deserialize destroy detach detect determine diff disable discard disconnect discover
    dispatch display dispose distribute divide do download drain draw drive drop dump duplicate edit eject elect
    eliminate embed emit enable encode encrypt end enforce enqueue enrich ensure enter enumerate erase escape
    establish estimate evaluate evict examine exchange exclude execute exit expand expect expire explain explode
    explore export expose express extend extract fail fetch fill filter finalize find finish fire fit fix flag
    flatten flip flush focus fold follow force forbid fork format forward free freeze fuse gather generate get
    give go grab grant group grow guard guess guide halt handle hash hide highlight hold hydrate identify ignore
    implement import include increase increment indent index infer inflate inform inherit init initialise
    initialize inject insert inspect install instantiate instrument integrate intercept interpolate interpret
    intersect introspect invalidate invert invoke isolate issue iterate join jump keep kill label launch lay
    leave let limit link list listen load localize locate lock log lookup loop lower make manage mangle map mark
    mask match materialize measure memoize merge migrate minimize mirror mock modify monitor mount move multiply
    mutate navigate negate negotiate normalise normalize notify obtain offer offset omit open optimize order
    organize override overwrite pack pad paginate paint parse parametrize partition pass paste patch pause peek
    perform persist pick pickle pin ping pipe place plan play plot poll pop populate post postprocess predict
    prefetch prepare prepend preprocess present preserve press prevent print probe process produce promote
    prompt propagate protect prove provide provision prune publish pull purge push put quantize query queue quit
    quote raise randomize reach read rebuild receive recognize recommend recompute reconcile reconnect
    reconstruct record recover recreate recurse recycle redirect redraw reduce refactor refer refine reflect
    reformat refresh refuse register reindex reject relate release reload remap remember remove rename render
    renew reopen reorder repair repeat replace replay reply report represent reproduce request require rerun
    reschedule reserve reset reshape resize resolve respond restart restore restrict resume retain retrieve
    retry return reuse reverse revert review revoke rewind rewrite roll rotate round route run sample sanitize
    save scale scan schedule scrape score scroll scrub seal search seek select send separate serialise serialize
    serve set setup shift show shrink shuffle shutdown sign simplify simulate skip sleep slice slugify smooth
    snapshot solve sort spawn specify spin split squash squeeze stage standardize start stash stem step stop
    store stream strip style submit substitute subtract suggest summarize supply support suppress suspend swap
    switch symlink sync synchronize synthesize tag take tear terminate test throw throttle tick toggle tokenize
    touch trace track train transcode transfer transform transition translate transmit transpose traverse
    trigger trim truncate try tune turn tweak type unbind undo unescape unfold uninstall unite unlink unload
    unlock unmount unpack unpickle unquote unregister unset unsubscribe untag unwrap unzip update upgrade upload
    upsert uppercase urlencode use utilize vacuum validate vary vectorize verify view visit wait wake walk want
    warm warn warp watch weigh widen wipe withdraw wrap write yank yield zip zoom
    """
)
# Far more often nouns in names: verbs only where a noun follows that they can act on.
MOSTLY_NOUNS = word_set(
    """
    block call center chain click cover cut diff drive embed end express fit flag focus fold force fork format
    free group guard guide hash hold index issue label limit link list log lookup loop lower map mark mask match
    mirror mock offset order pack pad partition paste patch pin pipe place plan plot post present probe process
    prompt query queue quote reach record report request round route sample scale schedule score search set
    shift sign slice snapshot sort split stage stem step stop store stream style supply support switch symlink
    tag test tick touch trace track transition type view walk want weigh zip zoom display count contract block
    cast balance cleanup change exit exchange export import filter estimate debug dump input output result
    trigger update use wait watch work wrap yield return review roll rewrite setup step swap sync transfer train
    """
)
# Words that, ending a name whose first word is mostly a noun, make it a noun phrase: `request_id`, `index_name`.
HEAD_NOUNS = word_set(
    """
    id ids name names type types path key keys size length count index url uri value values code status class
    cls kwargs args options config info dir directory file number offset level mode format order state version
    text string label title color style width height limit time timeout date error errors line lines node column
    range map table list set dict tuple handler factory function func callback manager builder iter iterator
    regex pattern prefix suffix message score rate policy point points point format schema spec context field
    fields bytes header headers body data
    """
)
# Before a noun these describe it: `complete_graph`, `lower_bound`.
_ADJECTIVES = word_set("complete correct separate lower smooth free clean open clear duplicate close empty")
_IRREGULAR = {
    "do": "does",
    "go": "goes",
    "have": "has",
    "be": "is",
    "undo": "undoes",
    "redo": "redoes",
    "quiz": "quizzes",
}
_IRREGULAR_GERUND = {"be": "being", "lie": "lying", "tie": "tying", "die": "dying", "sync": "syncing", "zip": "zipping"}
# Two-syllable verbs whose last consonant is not doubled: the stress is on the first syllable.
_NO_DOUBLING = ("en", "er", "or", "al", "el", "it", "et", "on", "om", "op", "ow", "ex", "ix", "ax", "ish", "ot", "ct")
_DOUBLE_ANYWAY = word_set(
    """
    commit submit emit omit admit permit forget reset unset upset format abort begin
    """
) - {"format", "abort"}
_PARTICLES = {
    "setup": ("set", "up"), "cleanup": ("clean", "up"), "shutdown": ("shut", "down"), "teardown": ("tear", "down"),
    "lookup": ("look", "up"), "login": ("log", "in"), "logout": ("log", "out"), "signup": ("sign", "up"),
    "backup": ("back", "up"), "startup": ("start", "up"), "checkout": ("check", "out"), "init": ("initialize", ""),
    "ask": ("ask", "for"), "fallback": ("fall", "back"), "rollback": ("roll", "back"), "del": ("delete", ""),
    "calc": ("calculate", ""), "gen": ("generate", ""), "exec": ("execute", ""), "concat": ("concatenate", ""),
    "lower": ("lower-case", ""), "upper": ("upper-case", ""), "rm": ("remove", ""), "mk": ("make", ""),
    "mkdir": ("create", "a directory"), "recv": ("receive", ""), "chk": ("check", ""), "eval": ("evaluate", ""),
    "repr": ("represent", ""), "cmp": ("compare", ""), "alloc": ("allocate", ""), "dealloc": ("release", ""),
    "iter": ("iterate", "over"), "listen": ("listen", "to"), "wait": ("wait", "for"), "respond": ("respond", "to"),
    "reply": ("reply", "to"), "subscribe": ("subscribe", "to"), "search": ("search", "for"),
    "iterate": ("iterate", "over"), "loop": ("loop", "over"), "recurse": ("recurse", "into"), "munge": ("rework", ""),
    "uniq": ("deduplicate", ""), "diff": ("compare", ""), "prep": ("prepare", ""),
    "stringify": ("render", "as a string"), "lint": ("lint", ""), "unsubscribe": ("unsubscribe", "from"),
    "lex": ("tokenize", ""), "getattr": ("look", "up an attribute"), "autodetect": ("detect", ""),
    "autoload": ("load", ""),
}  # fmt: skip
_PARTICLE_WORDS = word_set(
    """
    up down in out off on back away over through
    """
)


@lru_cache(maxsize=4096)
def third_person(verb: str) -> str:
    """`parse` gives `parses`, `copy` gives `copies`."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return f"{verb}es"
    return f"{verb}s"


@lru_cache(maxsize=4096)
def gerund(verb: str) -> str:
    """`parse` gives `parsing`, `get` gives `getting`."""
    if verb in _IRREGULAR_GERUND:
        return _IRREGULAR_GERUND[verb]
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1]}ing" if _doubles(verb) else f"{verb}ing"


def _doubles(verb: str) -> bool:
    if verb in _DOUBLE_ANYWAY:
        return True
    if len(verb) < 3 or verb[-1] in "aeiouwxy" or verb[-2] not in "aeiou" or verb[-3] in "aeiou":
        return False
    return len(verb) <= 4 or not verb.endswith(_NO_DOUBLING)


def as_verb(word: str) -> tuple[str, str] | None:
    """The base form that a word of a name stands for and what follows it (`setup` gives set, up), or None."""
    if word in _PARTICLES:
        return _PARTICLES[word]
    return (word, "") if word in VERBS else None


def is_third_person(words: Sequence[str]) -> bool:
    """Whether a phrase opens with a verb in the third person, `creates errors`, rather than a plural, `errors are`."""
    if len(words) < 2:
        return False
    return words[0] in _THIRD_PERSONS or (words[0] in _VERBS_OR_PLURALS and words[1] in _AFTER_A_VERB)


_VERBS_OR_PLURALS = frozenset(map(third_person, VERBS))
# Far more often the verb, though its base form is mostly a noun or its third person may be a plural.
_MOSTLY_VERBS = word_set(
    """
    sets returns yields uses supports handles matches raises throws reports stores waits does should must will cannot
    would shall
    """
)
_MOSTLY_PLURALS = word_set(
    """
    answers boots builds calls checks claims commits copies counts downloads duplicates edits fixes guards hashes
    imports includes loads locks logs monitors mounts moves plays reads replies restores retries runs saves scores
    upgrades uploads writes
    """
)
_AFTER_A_VERB = word_set("a an the all any its no only not every each itself when if correctly properly")
_THIRD_PERSONS = (frozenset(map(third_person, VERBS - MOSTLY_NOUNS)) - _MOSTLY_PLURALS) | _MOSTLY_VERBS


def is_adjective(word: str) -> bool:
    """Whether a verb is as often an adjective before a noun."""
    return word in _ADJECTIVES


def takes_particle(particle: str) -> bool:
    """Whether a second word belongs to the verb: `set_up`, `log_out`."""
    return particle in _PARTICLE_WORDS
