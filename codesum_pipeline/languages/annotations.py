"""Annotations that stand inside of what they annotate: Java, C#, Kotlin, Scala."""

from collections.abc import Iterator

from tree_sitter import Node

from codesum_pipeline.languages.spec import words

ANNOTATIONS = words("annotation marker_annotation attribute_list")


def after_annotations(node: Node | None) -> Node | None:
    """Where a definition begins that people would read aloud: its first word that is no annotation."""
    for child in node.children if node is not None else ():
        if child.type == "modifiers":
            first = next((word for word in child.children if not _is_passed_over(word)), None)
            if first is not None:
                return first
        elif not _is_passed_over(child):
            return child
    return None


def annotations_and_words(node: Node) -> Iterator[Node]:
    """What stands in the modifiers of a definition, in the order written."""
    for child in node.children:
        if child.type == "modifiers":
            yield from child.children
        elif child.type in ANNOTATIONS or child.type in ("modifier", "annotations"):
            yield child


def _is_passed_over(node: Node) -> bool:
    return node.type in ANNOTATIONS or node.is_extra


# The words before a definition, as a pattern.
MODIFIERS = (
    r"(?:(?:public|protected|private|internal|static|final|sealed|abstract|synchronized|native|default|strictfp|virtual"
    r"|override|async|readonly|unsafe|partial|extern|new|file|ref|non-sealed)[ \t]+)"
)
# Bases of Scala's and Kotlin's test frameworks whose classes hold tests as calls in their bodies.
SPEC_BASES = words("""
    AnyFunSuite AnyFunSpec AnyFlatSpec AnyWordSpec AnyFreeSpec AnyFeatureSpec AnyPropSpec AsyncFunSuite AsyncFlatSpec
    AsyncWordSpec FunSuite CatsEffectSuite ScalaCheckSuite FlatSpec WordSpec ZIOSpecDefault TestSuite StringSpec FunSpec
    ShouldSpec BehaviorSpec DescribeSpec FreeSpec ExpectSpec AnnotationSpec
""")
