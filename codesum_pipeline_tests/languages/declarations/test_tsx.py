"""What is read from TypeScript with markup."""

from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of
from codesum_pipeline_tests.languages.declarations.tsx_case import SOURCE


def test_the_symbols_of_a_file_with_components_and_hooks() -> None:
    found = symbols_by_name("tsx", SOURCE)

    assert {name: (symbol.type.value, symbol.signature) for name, symbol in found.items()} == {
        "RowProps": ("class", "export type RowProps"),
        "RowProps::onPick": ("function", "onPick(id: string): void"),
        "State": ("class", "interface State"),
        "Row": ("function", "export function Row({ title, children, onPick }: RowProps): JSX.Element"),
        "Row::toggle": ("function", "function toggle(): void"),
        "Input": (
            "function",
            "export const Input = forwardRef<HTMLInputElement, { label: string }>(function Input({ label }, ref)",
        ),
        "useCounter": ("function", "export const useCounter = (start = 0) =>"),
        "useCounter::increase": ("function", "const increase = () =>"),
        "Boundary": ("class", "export class Boundary extends React.Component<{ children: ReactNode }, State>"),
        "Boundary::getDerivedStateFromError": ("function", "static getDerivedStateFromError()"),
        "Boundary::render": ("function", "render()"),
        "App": ("function", "export default function App()"),
    }


def test_components_are_called_where_markup_uses_them() -> None:
    references = references_of(parse("tsx", SOURCE).facts)
    names = [symbol[0] for symbol in references["symbols"]]
    used = [(names[number], name) for number, receiver, name, _ in references["calls"] if not receiver]

    assert [pair for pair in used if pair[1] in ("Icon", "Row", "Boundary", "a", "li")] == [
        ("Row", "Icon"),
        ("App", "Boundary"),
        ("App", "Row"),
    ]
    assert parse("tsx", SOURCE).facts.exports == (
        "RowProps", "Row", "Input", "useCounter", "Boundary", "App as default",
    )  # fmt: skip
