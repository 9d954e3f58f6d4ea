"""Which tests in JavaScript and TypeScript are kept away by modules that are mocked, spies and stubs."""

import textwrap
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.agent_tools.impact_page import ImpactPage
from codesum_pipeline.ways_in.agent_tools.tool_registry import tools_by_name
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

SOURCES = {
    "src/money.js": "export function roundCents(a) {\n  return Math.round(a)\n}\n\n"
    "export function withTax(a) {\n  return roundCents(a * 1.2)\n}\n",
    "src/bank.ts": "import { withTax } from './money'\n\nexport class Bank {\n  send(a: number) {\n"
    "    return withTax(a)\n  }\n}\n",
    "src/orders.js": "import * as money from './money'\nimport { Bank } from './bank'\n\n"
    "export function total(a) {\n  return money.withTax(a)\n}\n\n"
    "export function pay(a) {\n  const bank = new Bank()\n  return bank.send(a)\n}\n",
}
HEAD = """
import * as money from '../src/money'
import * as orders from '../src/orders'
import { Bank } from '../src/bank'
import sinon from 'sinon'
"""
KEPT_AWAY = {
    "jest_mock": """
        jest.mock('../src/money')
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "vi_mock_with_a_factory": """
        vi.mock('../src/money', () => ({ withTax: vi.fn() }))
        describe('orders', () => {
          it('does', () => {
            expect(orders.total(1)).toBe(1)
          })
        })
    """,
    "a_part_of_a_module": """
        jest.mock('../src/money', () => ({ ...jest.requireActual('../src/money'), withTax: jest.fn() }))
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "spy": """
        test('it', () => {
          jest.spyOn(money, 'withTax').mockReturnValue(1)
          expect(orders.total(1)).toBe(1)
        })
    """,
    "spy_before_each": """
        describe('orders', () => {
          beforeEach(() => {
            vi.spyOn(money, 'withTax').mockImplementation(() => 1)
          })
          it('does', () => {
            expect(orders.total(1)).toBe(1)
          })
        })
    """,
    "spy_of_a_class": """
        test('it', () => {
          jest.spyOn(Bank.prototype, 'send').mockReturnValue(1)
          expect(orders.pay(1)).toBe(1)
        })
    """,
    "stub": """
        it('does', () => {
          sinon.stub(money, 'withTax').returns(1)
          expect(orders.total(1)).toBe(1)
        })
    """,
}
REACHED = {
    "nothing_replaced": """
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "another_module": """
        jest.mock('../src/bank')
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "another_part": """
        jest.mock('../src/money', () => ({ ...jest.requireActual('../src/money'), roundAll: jest.fn() }))
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_spy_alone": """
        test('it', () => {
          jest.spyOn(money, 'withTax')
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_module_that_is_spied_on": """
        vi.mock('../src/money', { spy: true })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "called_before": """
        test('it', () => {
          expect(orders.total(1)).toBe(1)
          jest.spyOn(money, 'withTax').mockReturnValue(1)
        })
    """,
    "a_stub_that_calls_through": """
        it('does', () => {
          sinon.stub(money, 'withTax').callThrough()
          expect(orders.total(1)).toBe(1)
        })
    """,
    "inside_of_the_module": """
        test('it', () => {
          jest.spyOn(money, 'roundCents').mockReturnValue(1)
          expect(orders.total(1)).toBe(1)
        })
    """,
    "the_spy_of_another_test": """
        test('other', () => {
          jest.spyOn(money, 'withTax').mockReturnValue(1)
        })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "broken": """
        jest.mock('../src/')
        jest.mock(
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> ImpactPage:
    folder: Path = tmp_path_factory.mktemp("scripts")
    tests = {f"test/{name}.test.js": HEAD + textwrap.dedent(code) for name, code in {**KEPT_AWAY, **REACHED}.items()}
    repo = GitRepo.create(folder / "shop", {**SOURCES, **tests})
    build(workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))), may_fail=True)
    call = ToolContext(IndexCatalogue.of(open_home(folder / "home").settings), Path("/"))
    found = tools_by_name()["impact"].ask(call, {"ids": ["roundCents"], "repo": "shop", "tokens": 50_000})
    assert isinstance(found, ImpactPage)
    return found


def files(rows: object) -> list[str]:
    return [row.path.removeprefix("test/").removesuffix(".test.js") for row in rows]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", KEPT_AWAY)
def test_a_test_that_replaces_it_is_kept_away(page: ImpactPage, name: str) -> None:
    assert (name in files(page.tests), name in files(page.kept_away)) == (False, True)


@pytest.mark.parametrize("name", REACHED)
def test_a_test_that_still_runs_it_is_named(page: ImpactPage, name: str) -> None:
    assert (name in files(page.tests), name in files(page.kept_away)) == (True, False)


def test_what_is_replaced_is_told(page: ImpactPage) -> None:
    told = {tuple(each.replaced) for each in page.replacing}

    assert told == {("money",), ("money.withTax",), ("bank.Bank.send",)}
