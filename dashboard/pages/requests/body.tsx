// A stored body: the first part at once, the rest on demand.
import { useMemo, useState } from 'preact/hooks'
import { bytes } from '../../app/format.ts'
import { Button, Copy } from '../../ui/button.tsx'

const FIRST = 64 * 1024

export function Body({ title, text, truncated }: { title: string; text: string | null; truncated: boolean }) {
  const [whole, setWhole] = useState(false)
  const pretty = useMemo(() => (text === null ? null : indented(text)), [text])
  if (pretty === null) return null
  return (
    <section>
      <header class="actions">
        <h3>{title}</h3>
        <span class="quiet">{bytes(pretty.length)}</span>
        {truncated && <span class="tag">cut by the log’s limit</span>}
        <Copy text={text ?? ''} />
      </header>
      <pre>{whole ? pretty : pretty.slice(0, FIRST)}</pre>
      {!whole && pretty.length > FIRST && <Button onClick={() => setWhole(true)}>Show all {bytes(pretty.length)}</Button>}
    </section>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
