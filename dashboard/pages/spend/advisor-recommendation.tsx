// One recommendation: how its saving was computed, the figures behind it, and the change.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate } from '../../api/query.ts'
import { count, percent, UNKNOWN } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Copy } from '../../ui/button.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { numberOf } from '../../ui/number-text.ts'
import { Facts, Peek } from '../../ui/page.tsx'
import { Money, Time } from '../../ui/text.tsx'

type Recommendation = Got<'/api/advisor'>['data'][number]
type ApplyAction = NonNullable<Recommendation['apply_action']>

const KINDS: Partial<Record<Recommendation['kind'], string>> = {
  switch_model: 'cheaper model',
  enable_exact_cache: 'exact cache',
  enable_semantic_cache: 'semantic cache',
  enable_cache_injection: 'prompt cache',
  enable_token_filters: 'shorter tool output',
  demote_target: 'target that fails',
  add_fallback: 'no second provider',
  unused_key: 'unused key',
  budget_at_risk: 'month over plan',
}

export function kindName(kind: Recommendation['kind']): string {
  return KINDS[kind] ?? kind.replaceAll('_', ' ')
}

/** 0 means that the gain is not money. */
export function Saving({ usd }: { usd: number }) {
  return usd === 0 ? <span class="quiet">not money</span> : <Money usd={usd} />
}

export function RecommendationPeek({ of: one }: { of: Recommendation }) {
  const { title, detail, est_monthly_usd, confidence, evidence, apply_action, apply_hint } = one
  const filter = evidence.log_filter
  return (
    <Peek title={title} onClose={() => setQuery({ open: null })}>
      <Facts
        facts={[
          ['Saves in 30 days', <Saving key="saving" usd={est_monthly_usd} />],
          ['Confidence', percent(confidence)],
          ['Computed', detail],
        ]}
      />
      <section>
        <h3>Evidence</h3>
        <Facts
          facts={Object.entries(evidence)
            .filter(([name]) => name !== 'log_filter')
            .map(([name, value]) => [name.replaceAll('_', ' '), shownEvidence(name, value)] as const)}
        />
        {typeof filter === 'string' && (
          <p>
            <a href={href(`/requests?filter=${encodeURIComponent(filter)}`)}>See these requests</a>
          </p>
        )}
      </section>
      {apply_action === null ? <ByHand hint={apply_hint} /> : <Change of={one} action={apply_action} />}
    </Peek>
  )
}

function shownEvidence(name: string, value: unknown) {
  if (typeof value === 'number') {
    if (/usd/.test(name)) return <Money usd={value} />
    return name.endsWith('_share') ? percent(value) : name.endsWith('_id') ? String(value) : count(value)
  }
  if (typeof value !== 'string') return value === null || value === undefined ? UNKNOWN : JSON.stringify(value)
  return name.endsWith('_at') ? <Time at={value} /> : value
}

/** The change cannot be made here: it belongs to the file, to an operator, or needs a decision. */
function ByHand({ hint }: { hint: string }) {
  const [about, patch] = splitHint(hint)
  return (
    <section>
      <h3>To do by hand</h3>
      {about !== '' && <p>{about}</p>}
      {patch !== '' && (
        <>
          <pre>{patch}</pre>
          <Copy text={patch} label="Copy the change" />
        </>
      )}
    </section>
  )
}

/** `In gateway.config.ts: virtualModels: {…}` and `… set settings: {…} there.` have the text for the file. */
function splitHint(hint: string): [about: string, patch: string] {
  const at = hint.search(/\b(?:virtualModels|settings): \{/)
  const end = hint.lastIndexOf('}') + 1
  return at === -1 || end === 0 ? [hint, ''] : [`${hint.slice(0, at)}… ${hint.slice(end)}`.trim(), hint.slice(at, end)]
}

function Change({ of: { id }, action }: { of: Recommendation; action: ApplyAction }) {
  const [hours, setHours] = useState('24')
  const apply = async (): Promise<void> => {
    const body = { recommendation_id: id, probation_hours: numberOf(hours) as number }
    const done = await answerOf(api.POST('/api/advisor/apply', { body }))
    await invalidate('/api/advisor/applied')
    setQuery({ open: null, action: String(done.id) })
    await invalidate('/api/advisor', '/api/virtual-models', '/api/settings')
  }
  return (
    <section>
      <h3>The change</h3>
      <ChangeText of={action} />
      {may('manage') ? (
        <Form submit="Apply on probation" onSubmit={apply}>
          <TextField
            name="probation_hours"
            label="Probation, hours"
            type="number"
            covers={['recommendation_id', 'id']}
            hint="1 to 336. It is taken back by itself when requests fail more, take longer or cost more than before."
            value={hours}
            onInput={setHours}
          />
        </Form>
      ) : (
        <p class="quiet">An administrator can apply it.</p>
      )}
    </section>
  )
}

function ChangeText({ of: { type, params } }: { of: ApplyAction }) {
  if (type === 'set_setting')
    return (
      <p>
        Set <code>{String(params.key)}</code> to <code>{JSON.stringify(params.value)}</code>.
      </p>
    )
  return (
    <>
      <p>
        Targets of <a href={href(`/routing/${encodeURIComponent(String(params.name))}`)}>{String(params.name)}</a>, in this order:
      </p>
      <Targets of={params.targets} />
    </>
  )
}

interface Target {
  readonly target: string
  readonly weight: number
  readonly enabled: boolean
}

export function Targets({ of: targets }: { of: unknown }) {
  return (
    <ol class="targets-in-order">
      {(Array.isArray(targets) ? (targets as Target[]) : []).map(({ target, weight, enabled }, index) => (
        <li key={index}>
          <code>{target}</code>{' '}
          <span class="quiet">
            {weight !== 1 && `weight ${weight} `}
            {!enabled && 'off'}
          </span>
        </li>
      ))}
    </ol>
  )
}
