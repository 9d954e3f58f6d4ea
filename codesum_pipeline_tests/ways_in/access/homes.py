"""Two homes: one with a repository of A alone, one that has B beside it, whose every word is a marker."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.answers.question_answering.question_store import open_store
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

# Each stands somewhere else in B: whatever leaks says where from.
MARKERS = (
    "quokka",  # the key
    "wombatname",  # names of code
    "numbatpath",  # paths
    "bilbydoc",  # docs
    "dingotext",  # sources
    "potoroocommit",  # commits
    "echidnaintent",  # standing questions and digests
    "kowariasked",  # questions and answers
    "taipanbranch",  # refs
    "maalaplace",  # where it is on disk
)
FILES_OF_A = {
    "README.md": "# Till\n\nTakes money.\n",
    "till/pay.py": '"""Money."""\n\nimport json\n\n\ndef charge(card):\n    """Charge a card."""\n'
    '    return check(card)\n\n\ndef check(card):\n    """Check a card."""\n    return json.dumps(card)\n',
    "till/use.py": "from till.pay import charge\n\n\ndef buy(card):\n    return charge(card)\n",
}
FILES_OF_B = {
    "README.md": "# Bilbydoc\n\nBilbydoc of charge.\n",
    "numbatpath/pay.py": '"""Bilbydoc."""\n\n\ndef charge(card):\n    """Charge a bilbydoc."""\n'
    '    return wombatname(card)\n\n\ndef wombatname(card):\n    return "dingotext"\n',
}
# It imports A, so that what A changes reaches it.
CLIENT_OF_B = (
    "from till.pay import charge, check\n\n\ndef wombatname_client():\n    return charge(check('dingotext'))\n"
)
KEY_OF_B = "till-quokka"


@dataclass(frozen=True)
class Homes:
    """`alone` never had B; `both` has it, and is the same otherwise."""

    alone: Path
    both: Path
    conversation_of_b: str
    turns: tuple[str, str]


def make_homes(folder: Path) -> Homes:
    """Built homes; in that of both somebody else asked about B, and about A."""
    a = GitRepo.create(folder / "a", FILES_OF_A)
    b = GitRepo.create(folder / "maalaplace", FILES_OF_B)
    a.commit({"till/pay.py": FILES_OF_A["till/pay.py"].replace("return json", "return 1 and json")})
    b.commit({"numbatpath/more.py": "def wombatname_more():\n    return 'dingotext'\n"}, message="Potoroocommit")
    b.commit({"numbatpath/client.py": CLIENT_OF_B}, message="Potoroocommit")
    b.git("branch", "taipanbranch")
    alone, both = folder / "alone", folder / "both"
    build(workspace_of(open_home(alone), RepositoryEntry("till", str(a.path))))
    shutil.copytree(alone, both, symlinks=True)
    build(workspace_of(open_home(both), RepositoryEntry(KEY_OF_B, str(b.path), ref="taipanbranch")))
    (both / "intents.yaml").write_text("echidnaintent: {question: 'How is echidnaintent charged?'}\n")
    with open_store(both, now=utc_now) as store:
        conversation = store.begin_conversation([KEY_OF_B], asker="boss")
        of_b = store.begin_turn(conversation, "What of kowariasked?", model="m")
        store.end_turn(of_b, answer="kowariasked in numbatpath/pay.py:1")
        of_a = store.begin_turn(store.begin_conversation(["till"], asker="boss"), "Is it as kowariasked?", model="m")
        store.end_turn(of_a, answer="kowariasked")
    return Homes(alone, both, conversation, (of_b, of_a))
