// The order in which a request would be sent now, of the draft as it stands. Looking moves nothing.
import { useState } from 'preact/hooks'
import { useGet } from '../../api/query.ts'
import { Loading, Panel } from '../../ui/page.tsx'
import { KeyOptions } from '../../ui/rows/key-options.tsx'
import type { Draft } from './draft.ts'
import { PreviewOrder } from './preview-order.tsx'
import { usePreview } from './use-preview.ts'

const FEATURES = [
  ['vision', 'with an image'],
  ['tools', 'with tools'],
] as const
type Feature = (typeof FEATURES)[number][0]

interface PreviewProps {
  draft: Draft
  changed: boolean
}

export function Preview({ draft, changed }: PreviewProps) {
  const [asKey, setAsKey] = useState('')
  const [down, setDown] = useState<readonly number[]>([])
  const [features, setFeatures] = useState<readonly Feature[]>([])
  const [tokensIn, setTokensIn] = useState('1000')
  const [tokensOut, setTokensOut] = useState('1024')
  const connections = useGet('/api/providers')
  const shown = usePreview({
    ...draft,
    name: draft.name === '' ? 'draft' : draft.name,
    ...(asKey !== '' && { as_key: Number(asKey) }),
    assume: down.map((connection_id) => ({ connection_id, state: 'down' as const })),
    request: { input_tokens: whole(tokensIn), max_tokens: whole(tokensOut), features: [...features] },
  })
  const names = new Map((connections.data?.data ?? []).map(({ id, provider, label }) => [id, `${provider}/${label}`]))
  return (
    <Panel title={changed ? 'A request now, with this draft' : 'A request now'}>
      <div class="preview-choices">
        <label>
          tokens in <input type="number" min="0" value={tokensIn} onInput={(event) => setTokensIn(event.currentTarget.value)} />
        </label>
        <label>
          out <input type="number" min="0" value={tokensOut} onInput={(event) => setTokensOut(event.currentTarget.value)} />
        </label>
        {FEATURES.map(([feature, title]) => (
          <Choice
            key={feature}
            title={title}
            checked={features.includes(feature)}
            onChange={() => setFeatures(toggled(features, feature))}
          />
        ))}
        <label>
          as key{' '}
          <select value={asKey} onChange={(event) => setAsKey(event.currentTarget.value)}>
            <KeyOptions />
          </select>
        </label>
        <fieldset>
          <legend>assume down</legend>
          {[...names].map(([id, name]) => (
            <Choice key={id} title={name} checked={down.includes(id)} onChange={() => setDown(toggled(down, id))} />
          ))}
        </fieldset>
      </div>
      {draft.targets.length === 0 ? (
        <p class="quiet">Add a target to see the order.</p>
      ) : (
        <Loading of={shown}>
          {(answer) => <PreviewOrder of={answer} nameOf={(id) => names.get(id) ?? `connection ${id}`} />}
        </Loading>
      )}
      <p class="hint">Nothing is sent, moved or drawn by this look.</p>
    </Panel>
  )
}

export function Choice({ title, checked, onChange }: { title: string; checked: boolean; onChange: () => void }) {
  return (
    <label class="choice">
      <input type="checkbox" checked={checked} onChange={onChange} /> {title}
    </label>
  )
}

export function toggled<T>(list: readonly T[], one: T): T[] {
  return list.includes(one) ? list.filter((other) => other !== one) : [...list, one]
}

function whole(text: string): number {
  const value = Math.trunc(Number(text))
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), 999_999_999) : 0
}
