// The sealed pipeline as a picture: which plugins run at which hook. It is read-only, because order is code.
import { type Got, useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { query as address, href, setQuery } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { ThisReplica } from '../../ui/notes/this-replica.tsx'
import { Loading, Notice, Panel } from '../../ui/page.tsx'
import { Time } from '../../ui/text.tsx'
import { type OrderChange, orderChanges } from './order-change.ts'
import { reachedHooks } from './reached.ts'
import { STAGES } from './stages.ts'

type Listed = Got<'/api/plugins'>
type Plugin = Listed['data'][number]

const REQUEST_ID = /^(?:req_)?[0-9a-f-]{36}$/

export function Pipeline() {
  const plugins = useGet('/api/plugins')
  return <Loading of={plugins}>{(listed) => <Shown of={listed} />}</Loading>
}

function Shown({ of: { data, order, generation, sealed_at, before } }: { of: Listed }) {
  const lit = address.value.get('plugin')
  const compared = before !== null && address.value.get('compare') === 'before'
  const reached = useReached()
  const byName = new Map(data.map((plugin) => [plugin.name, plugin]))
  const namesAt = (from: Listed['order'], hook: string): string[] => [
    ...new Set(from.find((one) => one.hook === hook)?.plugins ?? []),
  ]
  const known = new Set(STAGES.flatMap(({ hooks }) => hooks))
  const others = [...order, ...(compared ? before.order : [])].map(({ hook }) => hook).filter((hook) => !known.has(hook))
  const stages = others.length === 0 ? STAGES : [...STAGES, { title: 'Other', about: '', hooks: [...new Set(others)] }]
  return (
    <Panel
      title={`Pipeline, generation ${generation}`}
      actions={
        <>
          <span class="quiet">
            {sealed_at !== null && (
              <>
                sealed <Time at={sealed_at} />,{' '}
              </>
            )}
            read-only: order comes from code and gateway.config.ts <ThisReplica />
          </span>
          {before !== null && (
            <Button pressed={compared} onClick={() => setQuery({ compare: compared ? null : 'before' })}>
              Compare with generation {before.generation}
            </Button>
          )}
        </>
      }
    >
      <AddressNote name="plugin" shown={byName.has(lit ?? '') ? lit : null} />
      <AddressNote name="compare" shown={compared ? 'before' : null} />
      <LightRequest of={reached} />
      <ol class="pipeline">
        {stages.map(({ title, about, hooks }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p class="quiet">{about}</p>
            <dl>
              {hooks.map((hook) => {
                const names = namesAt(order, hook)
                const shown: readonly OrderChange[] = compared
                  ? orderChanges(names, namesAt(before.order, hook))
                  : names.map((plugin) => ({ plugin, change: 'same' }))
                const place = reached.hooks === null ? '' : reached.hooks.has(hook) ? 'reached' : 'not-reached'
                return (
                  <div key={hook} class={`${names.length === 0 ? 'empty-hook' : ''} ${place}`}>
                    <dt>
                      {hook}
                      {place === 'reached' && <span class="visually-hidden"> (reached)</span>}
                    </dt>
                    {shown.map(({ plugin, change }) => (
                      <dd key={plugin} class={change}>
                        {change === 'removed' ? (
                          <del>{plugin}</del>
                        ) : (
                          <PluginName plugin={byName.get(plugin)} hook={hook} lit={lit === plugin} />
                        )}
                        {change !== 'same' && <span class="change"> {change}</span>}
                      </dd>
                    ))}
                  </div>
                )
              })}
            </dl>
          </li>
        ))}
      </ol>
      <About plugin={byName.get(lit ?? '')} order={order} />
    </Panel>
  )
}

function PluginName({ plugin, hook, lit }: { plugin: Plugin | undefined; hook: string; lit: boolean }) {
  if (plugin === undefined) return null
  const { name, source, hook_errors, hook_runs } = plugin
  const errors = hook_errors.find((one) => one.hook === hook)?.errors ?? 0
  return (
    <button
      type="button"
      class={`plugin ${source === 'hookgate' ? '' : 'own'}`}
      aria-pressed={lit}
      title={`${source === 'hookgate' ? '' : 'Your own plugin. '}${ranText(hook_runs.find((one) => one.hook === hook))}`}
      onClick={() => setQuery({ plugin: lit ? null : name })}
    >
      {name}
      {source !== 'hookgate' && ' ★'}
      {errors > 0 && <span class="hook-errors"> ⚠ {count(errors)} failed</span>}
    </button>
  )
}

function ranText(runs: Plugin['hook_runs'][number] | undefined): string {
  if (runs === undefined) return ''
  return `Ran ${count(runs.ran)} times here and refused ${count(runs.refused)} since the generation was sealed.`
}

/** One sentence about the plugin that is lit. */
function About({ plugin, order }: { plugin: Plugin | undefined; order: Listed['order'] }) {
  if (plugin === undefined) return null
  const places = order.flatMap(({ hook, plugins }) => {
    const at = plugins.indexOf(plugin.name)
    if (at === -1) return []
    const runs = plugin.hook_runs.find((one) => one.hook === hook)
    const counted =
      runs === undefined ? '' : `, ran ${count(runs.ran)}${runs.refused > 0 ? `, refused ${count(runs.refused)}` : ''}`
    return [`${hook} ${at === 0 ? '(first)' : `after ${plugins[at - 1]}`}${counted}`]
  })
  return (
    <p class="plugin-about" role="status">
      <strong>{plugin.name}</strong> {plugin.version !== null && <span class="quiet">{plugin.version}</span>} ·{' '}
      {places.join(' · ') || 'no hook'} · {count(plugin.errors)} failed since the start ·{' '}
      <a href={href(`/system?tab=plugins&open=${encodeURIComponent(plugin.name)}`)}>details</a>
    </p>
  )
}

interface Reached {
  readonly hooks: ReadonlySet<string> | null
  readonly problem: string | null
}

function useReached(): Reached {
  const id = address.value.get('request') ?? ''
  const asked = REQUEST_ID.test(id)
  const details = useGet(asked ? '/api/logs/{request_id}' : null, { params: { request_id: id } })
  if (id === '') return { hooks: null, problem: null }
  if (!asked) return { hooks: null, problem: 'This is not the id of a request.' }
  if (details.data !== undefined) return { hooks: reachedHooks(details.data), problem: null }
  return { hooks: null, problem: details.error?.message ?? null }
}

function LightRequest({ of: { hooks, problem } }: { of: Reached }) {
  const id = address.value.get('request') ?? ''
  return (
    <div class="light-request">
      <label>
        <span>Light a request</span>
        <input
          type="search"
          class="filter-input"
          placeholder="req_…"
          spellcheck={false}
          value={id}
          onInput={(event) => setQuery({ request: event.currentTarget.value.trim() })}
        />
      </label>
      {problem !== null && <Notice tone="warning">{problem}</Notice>}
      {hooks !== null && (
        <p class="quiet">
          Lit are the hooks that this request certainly reached, from its log row. The{' '}
          <a href={href('/playground')}>playground</a> shows every run with its time.
        </p>
      )}
    </div>
  )
}
