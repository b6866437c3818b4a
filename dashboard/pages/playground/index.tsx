import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { takeOver } from '../../app/hand-over.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Copy } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Notice, Page, Panel } from '../../ui/page.tsx'
import { Lanes } from './lanes.tsx'
import { RequestForm } from './request-form.tsx'
import { useRun } from './run.ts'
import { DIALECTS, type Dialect, sampleOf } from './samples.ts'
import { LANGUAGES, snippetOf } from './snippets.ts'
import { Translation } from './translation.tsx'

type Translated = paths['/api/playground/translate']['post']['responses'][200]['content']['application/json']

export default function Playground() {
  const given = address.value.get('dialect') ?? 'chat'
  const dialect: Dialect = DIALECTS.find(({ id }) => id === given)?.id ?? 'chat'
  // The cloud profile does not offer `echo`.
  const cloud = useGet('/healthz').data?.profile === 'cloud'
  const models = useGet(cloud ? '/api/models' : null)
  const model = address.value.get('model') ?? (cloud ? (models.data?.data[0]?.id ?? '') : 'echo/echo-1')
  const streamed = address.value.get('stream') !== 'false'
  const [text, setText] = useState(() => JSON.stringify(takeOver() ?? sampleOf(dialect), null, 2))
  const [asKey, setAsKey] = useState('')
  const [note, setNote] = useState<string | null>(null)
  const [translated, setTranslated] = useState<Translated | null>(null)
  const { run, start, stop } = useRun()

  /** @throws ApiError for the field `body` */
  const bodyOf = (): Record<string, unknown> => {
    const body = parsed(text)
    if (body === null) throw new ApiError('The request must be one JSON object in braces.', 400, 'body', null, null)
    return { ...body, model, stream: streamed }
  }
  const translate = (targets?: Dialect[]): Promise<Translated> =>
    answerOf(api.POST('/api/playground/translate', { body: { dialect, body: bodyOf(), ...(targets && { targets }) } }))
  /** The same conversation in another dialect. What it cannot say is named. */
  const speak = async (next: Dialect): Promise<void> => {
    if (next === dialect) return
    setTranslated(null)
    try {
      const [target] = (await translate([next])).targets
      const { model: _, stream: __, ...body } = (target?.request?.body ?? sampleOf(next)) as Record<string, unknown>
      const lost = (target?.losses ?? []).map((loss) => loss.replace('dropped_', ''))
      if (target?.error) setNote(`${target.error.message} The sample is shown instead.`)
      else setNote(lost.length === 0 ? null : `Lost on the way, because this dialect has no such member: ${lost.join(', ')}.`)
      setText(JSON.stringify(body, null, 2))
      setQuery({ dialect: next === 'chat' ? null : next })
    } catch (error) {
      setNote(`The request could not be translated. ${ApiError.unreachable(error).message}`)
    }
  }
  const send = async (): Promise<void> => {
    const body = bodyOf()
    setTranslated(null)
    setNote(null)
    const { error, done } = await start({ dialect, body, ...(asKey !== '' && { as_key: Number(asKey) }) })
    if (error !== null) throw placed(error.message, error.status, error.param)
    if (done?.error?.param != null) throw placed(done.error.message, done.status, done.error.param)
  }
  const dryRun = async (): Promise<void> => {
    try {
      setTranslated(await translate())
    } catch (thrown) {
      const error = ApiError.unreachable(thrown)
      throw placed(error.message, error.status, error.param)
    }
  }
  const code = { ...(parsed(text) ?? {}), model, stream: streamed }
  return (
    <Page
      title="Playground"
      actions={LANGUAGES.map(([language, title]) => (
        <Copy key={language} text={snippetOf(language, dialect, code)} label={title} />
      ))}
    >
      <AddressNote name="dialect" shown={dialect} />
      <div class="tabs" role="tablist" aria-label="Dialect of the request">
        {DIALECTS.map(({ id, title }) => (
          <button key={id} type="button" role="tab" aria-selected={id === dialect} onClick={() => speak(id)}>
            {title}
          </button>
        ))}
      </div>
      {note !== null && <Notice tone="warning">{note}</Notice>}
      <div class="columns">
        <Panel title="1 You send">
          <RequestForm
            model={model}
            streamed={streamed}
            asKey={asKey}
            text={text}
            running={run?.running === true}
            onModel={(next) => setQuery({ model: next })}
            onStreamed={(on) => setQuery({ stream: on ? null : 'false' })}
            onKey={setAsKey}
            onText={setText}
            onRun={send}
            onStop={stop}
            onDryRun={dryRun}
          />
        </Panel>
        <div class="stack">
          {translated !== null && <Translation of={translated} />}
          {translated === null && run !== null && <Lanes of={run} />}
          {translated === null && run === null && (
            <Panel title="4 You get">
              <p class="quiet">Run the request to see what goes up, what comes back, and which hooks ran.</p>
            </Panel>
          )}
        </div>
      </div>
    </Page>
  )
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The gateway names a member of the request; the form has three fields for them. */
function placed(message: string, status: number, param: string | null): ApiError {
  const field = param === 'model' || param === 'body.model' ? 'model' : param === 'as_key' ? 'as_key' : 'body'
  return new ApiError(message, status, param === null ? null : field, null, null)
}
