import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { takeOver } from '../../app/hand-over.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Button, Copy } from '../../ui/button.tsx'
import { KeyOptions } from '../../ui/key-options.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { curlOf } from './curl.ts'
import { Lanes } from './lanes.tsx'
import { useRun } from './run.ts'
import { DIALECTS, type Dialect, sampleOf } from './samples.ts'
import { Translation } from './translation.tsx'

type Translated = paths['/api/playground/translate']['post']['responses'][200]['content']['application/json']

export default function Playground() {
  const given = address.value.get('dialect') ?? 'chat'
  const dialect: Dialect = DIALECTS.find(({ id }) => id === given)?.id ?? 'chat'
  const model = address.value.get('model') ?? 'echo/echo-1'
  const streamed = address.value.get('stream') !== 'false'
  const [text, setText] = useState(() => JSON.stringify(takeOver() ?? sampleOf(dialect), null, 2))
  const [asKey, setAsKey] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [translated, setTranslated] = useState<Translated | null>(null)
  const models = useGet('/api/models')
  const { run, start, stop } = useRun()

  const bodyOf = (): Record<string, unknown> | null => {
    try {
      const body = JSON.parse(text) as Record<string, unknown>
      setProblem(null)
      return { ...body, model, stream: streamed }
    } catch (error) {
      setProblem(`The request is not JSON: ${String(error)}`)
      return null
    }
  }
  const translate = async (targets?: Dialect[]): Promise<Translated | null> => {
    const body = bodyOf()
    if (body === null) return null
    try {
      return await answerOf(api.POST('/api/playground/translate', { body: { dialect, body, ...(targets && { targets }) } }))
    } catch (error) {
      setProblem(ApiError.unreachable(error).message)
      return null
    }
  }
  /** The same conversation in another dialect, where it can be said there. */
  const speak = async (next: Dialect): Promise<void> => {
    const [target] = (await translate([next]))?.targets ?? []
    const { model: _, stream: __, ...body } = (target?.request?.body ?? sampleOf(next)) as Record<string, unknown>
    if (target?.error) setProblem(`${target.error.message} The sample is shown instead.`)
    setText(JSON.stringify(body, null, 2))
    setTranslated(null)
    setQuery({ dialect: next === 'chat' ? null : next })
  }
  const send = async (): Promise<void> => {
    const body = bodyOf()
    if (body === null) return
    setTranslated(null)
    void start({ dialect, body, ...(asKey !== '' && { as_key: Number(asKey) }) })
  }
  return (
    <Page title="Playground">
      <AddressNote name="dialect" shown={dialect} />
      <div class="columns">
        <Panel
          title="You send"
          actions={<Copy text={curlOf(dialect, { ...safeJson(text), model, stream: streamed })} label="Copy as curl" />}
        >
          <div class="dialects" role="group" aria-label="Dialect">
            {DIALECTS.map(({ id, title }) => (
              <button key={id} type="button" class="button plain" aria-pressed={id === dialect} onClick={() => speak(id)}>
                {title}
              </button>
            ))}
          </div>
          <div class="form">
            <div class="form-row">
              <div class="field">
                <label for="playground-model">Model</label>
                <input
                  id="playground-model"
                  list="playground-models"
                  spellcheck={false}
                  value={model}
                  onInput={(event) => setQuery({ model: event.currentTarget.value })}
                />
                <datalist id="playground-models">
                  {(models.data?.data ?? []).slice(0, 1000).map(({ id }) => (
                    <option key={id} value={id} />
                  ))}
                </datalist>
              </div>
              <div class="field">
                <label for="playground-key">As key</label>
                <select
                  id="playground-key"
                  disabled={!may('manage')}
                  value={asKey}
                  onChange={(event) => setAsKey(event.currentTarget.value)}
                >
                  <KeyOptions />
                </select>
              </div>
            </div>
            <label class="target-enabled">
              <input type="checkbox" checked={streamed} onChange={() => setQuery({ stream: streamed ? 'false' : null })} />{' '}
              streamed
            </label>
            <div class="field">
              <label for="playground-body">Request, without model and stream</label>
              <textarea
                id="playground-body"
                rows={14}
                spellcheck={false}
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send()
                }}
              />
            </div>
            {problem !== null && (
              <p class="failure" role="alert">
                {problem}
              </p>
            )}
            <p class="hint">This is a real request: it costs what it costs, and the log shows it with the source “playground”.</p>
            <div class="form-actions">
              <Button
                title="Shows how the request is written in every dialect, without a call"
                onClick={async () => setTranslated(await translate())}
              >
                Dry run
              </Button>
              {run?.running === true ? (
                <Button onClick={stop}>Stop</Button>
              ) : (
                <Button kind="primary" title="Ctrl Enter" disabled={!may('manage')} onClick={send}>
                  Run
                </Button>
              )}
            </div>
          </div>
        </Panel>
        <div class="stack">
          {translated !== null && <Translation of={translated} />}
          {translated === null && run !== null && <Lanes of={run} />}
          {translated === null && run === null && (
            <Panel title="You get">
              <p class="quiet">Run the request to see what goes up, what comes back, and which hooks ran.</p>
            </Panel>
          )}
        </div>
      </div>
    </Page>
  )
}

function safeJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
