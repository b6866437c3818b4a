// Replays requests against the configuration file, with this draft and with outages. No upstream is called.
import { useState } from 'preact/hooks'
import { useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { Field, Form, TextField } from '../../ui/form.tsx'
import { Panel } from '../../ui/page.tsx'
import type { Draft } from './draft.ts'
import { Choice, toggled } from './preview.tsx'
import { Comparison } from './simulate-result.tsx'
import { runSimulation, type SimulationRun, scriptOf, withoutOutages } from './simulation.ts'

/** @param saved the virtual model before the draft; undefined for a new one */
export function Simulate({ draft, saved }: { draft: Draft; saved: Draft | undefined }) {
  const connections = useGet('/api/providers')
  const [requests, setRequests] = useState('60')
  const [down, setDown] = useState<readonly string[]>([])
  /** null: made from the choices above it. */
  const [written, setWritten] = useState<string | null>(null)
  const [runs, setRuns] = useState<{ before: SimulationRun; after: SimulationRun } | null>(null)
  const name = draft.name === '' ? 'draft' : draft.name
  const script = written ?? scriptOf({ name, count: Number(requests) }, down)
  const ofFile = (connections.data?.data ?? []).filter(({ managed_by }) => managed_by === 'config')
  const run = async (): Promise<void> => {
    setRuns(null)
    const after = await runSimulation(script, draft)
    // The other side: what is saved, with every upstream answering. The gateway runs one simulation at a time.
    const before = await runSimulation(withoutOutages(script), { ...(saved ?? draft), name })
    setRuns({ before, after })
  }
  return (
    <Panel title="Simulate">
      <Form submit="Run" onSubmit={run}>
        {written === null && (
          <>
            <TextField
              name="requests"
              covers={['script', 'draft']}
              label="Requests, one a second"
              type="number"
              value={requests}
              onInput={setRequests}
            />
            <Field
              name="outages"
              label="Assume outages"
              hint={
                ofFile.length === 0
                  ? 'Only connections of gateway.config.ts take part in a simulation. There is none.'
                  : `${count(down.length)} of ${count(ofFile.length)} connections of gateway.config.ts answer 503.`
              }
            >
              {({ id, 'aria-describedby': describedBy }) => (
                <div id={id} class="choices" role="group" aria-label="Assume outages" aria-describedby={describedBy}>
                  {ofFile.map(({ id, provider, label }) => {
                    const upstream = `${provider}/${label}`
                    return (
                      <Choice
                        key={id}
                        title={upstream}
                        checked={down.includes(upstream)}
                        onChange={() => setDown(toggled(down, upstream))}
                      />
                    )
                  })}
                </div>
              )}
            </Field>
          </>
        )}
        <details open={written !== null}>
          <summary>Script{written !== null && ', written by hand'}</summary>
          <TextField
            name={written === null ? 'shown' : 'script'}
            covers={written === null ? [] : ['draft']}
            label="One JSON object a line"
            rows={5}
            hint="Requests, and what upstreams answer from a time on."
            value={script}
            onInput={setWritten}
          />
          {written !== null && (
            <button type="button" class="button plain" onClick={() => setWritten(null)}>
              Back to the choices
            </button>
          )}
        </details>
      </Form>
      {runs !== null && <Comparison {...runs} isNew={saved === undefined} />}
    </Panel>
  )
}
