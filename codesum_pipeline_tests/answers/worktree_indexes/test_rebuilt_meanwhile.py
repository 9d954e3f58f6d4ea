"""A settled index is made from the tables of the published one, which another process may build anew meanwhile."""

import pytest

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.store.made_from import changed_paths
from codesum_pipeline.indexes.lanes import sparse
from codesum_pipeline_tests.support.homes import build, workspace_of
from codesum_pipeline_tests.support.overlay_answers import all_documents, indexed, must_be_equal
from codesum_pipeline_tests.support.shop import SHOP

EDITED = {"shop/cart.py": f"{SHOP['shop/cart.py']}\n\ndef weigh():\n    return 1\n"}
REBUILT = {"shop/money.py": SHOP["shop/money.py"].replace("amount", "quantity")}


@pytest.mark.parametrize("is_other", [True, False], ids=["of another commit", "of the same commit"])
def test_a_tree_is_settled_from_one_state_of_the_tables_or_not_at_all(tmp_path, monkeypatch, is_other):
    checkout = indexed(tmp_path, SHOP)

    def while_built(ws, table, now):
        found = changed_paths(ws, table, now)
        patch.undo()
        if is_other:
            checkout.repo.commit(REBUILT)
        build(workspace_of(checkout.home, checkout.entry))
        return found

    checkout.repo.write(EDITED)
    with monkeypatch.context() as patch:
        patch.setattr(sparse, "changed_paths", while_built)
        if is_other:
            with pytest.raises(RepositoryUnavailable, match="shop"):
                checkout.settle()
        else:
            checkout.settle()

    must_be_equal(all_documents(checkout.settle()), all_documents(checkout.clean()))
