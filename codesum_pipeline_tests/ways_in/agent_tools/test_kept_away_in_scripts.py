"""Which tests in JavaScript and TypeScript are kept away by modules that are mocked, spies and stubs."""

import textwrap
from pathlib import Path
from time import process_time

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.agent_tools import javascript_replacements
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.agent_tools.impact_page import ImpactPage
from codesum_pipeline.ways_in.agent_tools.javascript_replacements import mocked_names
from codesum_pipeline.ways_in.agent_tools.tool_registry import tools_by_name
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

SOURCES = {
    "src/money.js": "export function roundCents(a) {\n  return Math.round(a)\n}\n\n"
    "export function withTax(a) {\n  return roundCents(a * 1.2)\n}\n",
    "src/bank.ts": "import { withTax } from './money'\n\nexport class Bank {\n  send(a: number) {\n"
    "    return withTax(a)\n  }\n}\n",
    "src/fees.js": "import { withTax } from './money'\n\nexport function fee(a) {\n  return withTax(a)\n}\n",
    "src/__mocks__/fees.js": "export const fee = jest.requireActual('../fees').fee\n",
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
    "restored_behind_the_call": """
        test('it', () => {
          const spy = jest.spyOn(money, 'withTax').mockReturnValue(1)
          expect(orders.total(1)).toBe(1)
          spy.mockRestore()
        })
    """,
    "restored_after_each": """
        describe('orders', () => {
          let spy
          beforeEach(() => {
            spy = jest.spyOn(money, 'withTax').mockReturnValue(1)
          })
          afterEach(() => spy.mockRestore())
          it('does', () => {
            expect(orders.total(1)).toBe(1)
          })
        })
    """,
    "restored_after_all": """
        beforeAll(() => {
          sinon.stub(money, 'withTax').returns(1)
        })
        afterAll(() => sinon.restore())
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "restored_in_another_test": """
        test('it', () => {
          jest.spyOn(money, 'withTax').mockReturnValue(1)
          expect(orders.total(1)).toBe(1)
        })
        test('other', () => {
          jest.restoreAllMocks()
        })
    """,
    "the_actual_of_another_module": """
        jest.mock('../src/money')
        const bank = jest.requireActual('../src/bank')
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "required": """
        const kept = require('../src/money')
        test('it', () => {
          jest.spyOn(kept, 'withTax').mockReturnValue(1)
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
    "the_actual_is_asked_for": """
        jest.mock('../src/money')
        test('it', () => {
          money.withTax.mockImplementation(jest.requireActual('../src/money').withTax)
          expect(orders.total(1)).toBe(1)
        })
    """,
    "mocked_and_not_mocked": """
        jest.mock('../src/money')
        jest.unmock('../src/money')
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_factory_that_wraps": """
        jest.mock('../src/money', () => {
          const actual = jest.requireActual('../src/money')
          return { ...actual, withTax: jest.fn(actual.withTax) }
        })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_factory_that_wraps_by_other_names": """
        jest.mock('../src/money', () => {
          const real = jest.requireActual('../src/money')
          const wrapped = jest.fn((a) => real.withTax(a))
          return { ...real, withTax: wrapped }
        })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_factory_that_is_handed_the_original": """
        vi.mock('../src/money', async (load) => {
          const it = await load()
          return { ...it, roundAll: vi.fn() }
        })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "an_original_behind_the_mock": """
        jest.mock('../src/money', () => ({ withTax: jest.fn(), ...jest.requireActual('../src/money') }))
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_method_that_calls_it": """
        jest.mock('../src/money', () => {
          const real = jest.requireActual('../src/money')
          return { ...real, withTax(a) { return real.withTax(a) } }
        })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "mocked_in_a_test": """
        test('it', () => {
          jest.mock('../src/money')
          expect(orders.total(1)).toBe(1)
        })
    """,
    "restored": """
        test('it', () => {
          const spy = jest.spyOn(money, 'withTax').mockReturnValue(1)
          spy.mockRestore()
          expect(orders.total(1)).toBe(1)
        })
    """,
    "all_restored": """
        test('it', () => {
          jest.spyOn(money, 'withTax').mockReturnValue(1)
          jest.restoreAllMocks()
          expect(orders.total(1)).toBe(1)
        })
    """,
    "restored_by_sinon": """
        test('it', () => {
          sinon.stub(money, 'withTax').returns(1)
          sinon.restore()
          expect(orders.total(1)).toBe(1)
        })
    """,
    "restored_in_the_test": """
        describe('orders', () => {
          beforeEach(() => {
            jest.spyOn(money, 'withTax').mockReturnValue(1)
          })
          it('does', () => {
            money.withTax.mockRestore()
            expect(orders.total(1)).toBe(1)
          })
        })
    """,
    "restored_in_the_inner_group": """
        describe('orders', () => {
          beforeEach(() => {
            jest.spyOn(money, 'withTax').mockReturnValue(1)
          })
          describe('for real', () => {
            beforeEach(() => jest.restoreAllMocks())
            it('does', () => {
              expect(orders.total(1)).toBe(1)
            })
          })
        })
    """,
    "set_once_and_restored_after_each": """
        beforeAll(() => {
          jest.spyOn(money, 'withTax').mockReturnValue(1)
        })
        afterEach(jest.restoreAllMocks)
        test('first', () => {
          expect(1).toBe(1)
        })
        test('it', () => {
          expect(orders.total(1)).toBe(1)
        })
    """,
    "restored_by_a_helper": """
        function calm() {
          jest.restoreAllMocks()
        }
        test('it', () => {
          jest.spyOn(money, 'withTax').mockReturnValue(1)
          calm()
          expect(orders.total(1)).toBe(1)
        })
    """,
    "put_back": """
        test('it', () => {
          const kept = money.withTax
          jest.spyOn(money, 'withTax').mockReturnValue(1)
          money.withTax = kept
          expect(orders.total(1)).toBe(1)
        })
    """,
    "an_original_that_is_kept": """
        test('it', () => {
          const orig = money.withTax
          jest.spyOn(money, 'withTax').mockImplementation((a) => orig(a))
          expect(orders.total(1)).toBe(1)
        })
    """,
    "an_original_that_is_kept_by_its_place": """
        test('it', () => {
          const { withTax: orig } = money
          const fake = (a) => orig(a)
          sinon.stub(money, 'withTax').callsFake(fake)
          expect(orders.total(1)).toBe(1)
        })
    """,
    "an_original_that_is_given_later": """
        test('it', () => {
          const orig = money.withTax
          const spy = jest.spyOn(money, 'withTax').mockReturnValue(1)
          spy.mockImplementation(orig)
          expect(orders.total(1)).toBe(1)
        })
    """,
    "a_stub_that_is_told_to_call_through": """
        test('it', () => {
          const stub = sinon.stub(money, 'withTax')
          stub.callThrough()
          expect(orders.total(1)).toBe(1)
        })
    """,
    "only_if": """
        test('it', () => {
          if (process.env.FAKE) {
            jest.spyOn(money, 'withTax').mockReturnValue(1)
          }
          expect(orders.total(1)).toBe(1)
        })
    """,
    "mocked_by_hand": """
        import { fee } from '../src/fees'
        jest.mock('../src/fees')
        test('it', () => {
          expect(fee(1)).toBe(1)
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


@pytest.mark.parametrize(("most", "spans"), [(1, [(2, 2), (4, 4)]), (0, [])], ids=["at the limit", "above it"])
def test_of_more_pairs_than_a_limit_nothing_is_replaced(
    monkeypatch: pytest.MonkeyPatch, most: int, spans: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(javascript_replacements, "MOST_COMPARED", most)
    text = (
        "import * as o from './o'\ndescribe('a', () => { beforeEach(() => { jest.spyOn(o, 'f').mockReturnValue(1) })\n"
    )
    found = mocked_names("a.test.js", text + "it('b', () => { o.f.mockRestore() })\n})")

    assert [(each.first, each.last) for each in found] == spans


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("// import" + " " * 100_000, id="blanks behind a word"),
        pytest.param("x" + ".a()" * 10_000, id="a chain of calls"),
        pytest.param("x" + ".stub(o, 'f')" * 10_000, id="a chain of stubs"),
        pytest.param("jest.mock('./p', () => " * 2_000 + "1" + ")" * 2_000, id="factories in factories"),
        pytest.param(
            "it('a', () => {" + "jest.spyOn(o, 'f').mockReturnValue(o.f.mockRestore())\n" * 3_000 + "})", id="spies"
        ),
        pytest.param(
            "describe('a', () => {"
            + "beforeEach(() => {jest.spyOn(o, 'f').mockReturnValue(1)})\nit('a', () => {o.f.mockRestore()})\n" * 2_000
            + "})",
            id="hooks and tests that restore",
        ),
        pytest.param(
            "o.stub(o, 'f');" * 10_000 + "afterAll(() => {" + "o.restore();" * 10_000 + "})",
            id="what is restored at last",
        ),
        pytest.param("".join(f"const a{at + 1} = a{at}\n" for at in range(10_000)), id="names that keep names"),
    ],
)
def test_a_file_is_read_once(text: str) -> None:
    """The first took ten seconds where blanks were tried from each, the second where the text of each call was read."""
    begin = process_time()
    mocked_names("a.test.js", f"import * as o from './o'\njest.mock('./o')\n{text}")

    assert process_time() - begin < 4
