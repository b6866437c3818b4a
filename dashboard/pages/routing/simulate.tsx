// Replays a script of requests and upstream answers against the configuration file, with this draft in it. No upstream is called.
import { useState } from 'preact/hooks'
import { postText } from '../../api/post-text.ts'
import { count, percent } from '../../app/format.ts'
import { Form, TextField } from '../../ui/form.tsx'
import { Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import type { Draft } from './draft.ts'

interface Line {
  readonly [member: string]: unknown
}

const SHOWN = 100

export function Simulate({ draft }: { draft: Draft }) {
  const [script, setScript] = useState(() => sampleScript(draft))
  const [lines, setLines] = useState<readonly Line[] | null>(null)
  const run = async (): Promise<void> => {
    const text = await postText('/api/simulate', { script, draft })
    setLines(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    )
  }
  return (
    <Panel title="Simulate">
      <Form submit="Run" onSubmit={run}>
        <TextField
          name="script"
          label="Script"
          rows={6}
          hint="One JSON object a line: requests, and what upstreams answer from a time on. Connections of gateway.config.ts only."
          value={script}
          onInput={setScript}
        />
      </Form>
      {lines !== null && <Result lines={lines} />}
    </Panel>
  )
}

function Result({ lines }: { lines: readonly Line[] }) {
  const requests = lines.filter((line) => !('summary' in line))
  const summary = lines.find((line) => 'summary' in line)?.summary as Line | undefined
  const ok = requests.filter(({ status }) => Number(status) < 400).length
  return (
    <>
      <p>
        <strong>{percent(requests.length === 0 ? Number.NaN : ok / requests.length)}</strong> of {count(requests.length)} requests
        answered
      </p>
      <Table
        label="Simulated requests"
        rows={requests.slice(0, SHOWN).map((line, index) => ({ line, index }))}
        rowKey={({ index }) => index}
        columns={[
          { id: 'n', title: '#', cell: ({ index }) => index + 1 },
          { id: 'status', title: 'Status', cell: ({ line }) => String(line.status ?? '—') },
          { id: 'way', title: 'Way', cell: ({ line }) => wayOf(line) },
        ]}
      />
      {requests.length > SHOWN && <p class="quiet">The first {SHOWN} are shown.</p>}
      {summary !== undefined && <pre>{JSON.stringify(summary, null, 2)}</pre>}
    </>
  )
}

function wayOf({ attempts }: Line): string {
  if (!Array.isArray(attempts) || attempts.length === 0) return 'no account'
  return attempts.map(({ connection, status, skipped }: Line) => `${connection} ${skipped ?? status ?? 'no answer'}`).join(' → ')
}

function sampleScript({ name, targets }: Draft): string {
  const first = targets[0]
  const target = typeof first === 'string' ? first : (first?.target ?? 'openai/gpt-4o')
  const provider = target.slice(0, Math.max(target.indexOf('/'), 0)) || 'openai'
  return [
    { at: '0s', model: name || 'draft', count: 60, every: '1s' },
    { at: '10s', upstream: provider, answer: { status: 503 } },
    { at: '40s', upstream: provider, answer: {} },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')
}
