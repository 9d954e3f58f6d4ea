"""TypeScript with markup, as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
import { forwardRef, useState, type ReactNode } from 'react'
import { Icon } from './icon'

export type RowProps = {
  title: string
  children?: ReactNode
  onPick(id: string): void
}

interface State { open: boolean; seen: string[] }

/** One row of the list. */
export function Row({ title, children, onPick }: RowProps): JSX.Element {
  const [state, setState] = useState<State>({ open: false, seen: [] })
  function toggle(): void {
    setState((old) => ({ ...old, open: !old.open }))
  }
  if (!title) {
    return <></>
  }
  return (
    <li onClick={toggle} style={{ opacity: state.open ? 1 : 0.5 }}>
      <Icon<string> name="star" />
      {title}: {children}
      {state.seen.map((id) => (
        <a key={id} onClick={() => onPick(id)}>pick {id}</a>
      ))}
    </li>
  )
}

/** An input that gives its element away. */
export const Input = forwardRef<HTMLInputElement, { label: string }>(function Input({ label }, ref) {
  return <label>{label}<input ref={ref} disabled /></label>
})

export const useCounter = (start = 0) => {
  const [count, setCount] = useState(start)
  const increase = () => setCount((value) => value + 1)
  return { count, increase }
}

export class Boundary extends React.Component<{ children: ReactNode }, State> {
  state: State = { open: true, seen: [] }
  static getDerivedStateFromError() { return { open: false } }
  render() { return this.state.open ? this.props.children : null }
}

export default function App() {
  return <Boundary><Row title="first" onPick={console.log} /></Boundary>
}
"""

CONDITIONS = """\
function Page({ ready, size }: Props) {
  if (!ready) return wait();
  const chosen = size === 1 ? one() : several();
  return <div>{ready && show(size)}</div>;
}
"""

OPENING = """\
function apart() {
  // Walk all of it once,
  // in order.

  begin();
  return <div />;
}

function whole() {
  // Walk all of it once, in order.
  return <div />;
}

function first() {
  // Walk all of it once, in order.
  begin();
  return <div />;
}

function task() {
  // TODO: walk all of it once, in order.

  begin();
  return <div />;
}

function code() {
  // walk(all, once);

  begin();
  return <div />;
}
"""

CASE = LanguageCase(
    language="tsx",
    path="shop/app.tsx",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  ", "\n    ")
    .replace("{ open: boolean; seen: string[] }", "{\n  open: boolean;\n  seen: string[]\n}")
    .replace(
        "<label>{label}<input ref={ref} disabled />", "<label>\n    {label}\n    <input ref={ref}\n disabled/>\n  "
    )
    .replace("<Icon<string> name", "<Icon<string>\n        name")
    .replace("pick {id}</a>", "\n   pick {id}\n</a>"),
    commented=SOURCE.replace("  if (!title) {", "  // nothing to show\n  if (!title) {").replace(
        "  render()", "  /* shows it */\n\n  render()"
    ),
    edit=("value + 1", "value + 2"),
    edited=frozenset({"useCounter", "useCounter::increase"}),
    rename=("function toggle", "function flip"),
    renamed={"Row::toggle": "Row::flip"},
    conditions=CONDITIONS,
    when={
        "wait": "not ready",
        "one": "size === 1",
        "several": "size !== 1",
        "show": "ready",
    },
    opening=OPENING,
)
