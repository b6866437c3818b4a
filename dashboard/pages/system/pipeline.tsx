// The sealed pipeline as a picture: which plugins run at which hook. It is read-only, because order is code.
import { useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Loading, Panel } from '../../ui/page.tsx'

/** The stages of a request, and the hooks of each in their order. */
const STAGES: readonly { title: string; about: string; hooks: readonly string[] }[] = [
  { title: 'Before routing', about: 'who calls, and may they', hooks: ['ingress', 'authenticate', 'access', 'resolve'] },
  {
    title: 'Before the call',
    about: 'the request and its limits',
    hooks: ['request', 'answer', 'admit', 'reserve', 'candidates'],
  },
  { title: 'Each attempt', about: 'once per try', hooks: ['call', 'attempt', 'prepare', 'encoded'] },
  { title: 'The answer', about: 'whole or streamed', hooks: ['stream', 'stream:batch', 'response', 'egress'] },
  { title: 'After the answer', about: 'money, log, events', hooks: ['settle', 'settled'] },
  { title: 'Process', about: 'start and end', hooks: ['ready', 'close'] },
]

export function Pipeline() {
  const plugins = useGet('/api/plugins')
  const lit = address.value.get('plugin')
  return (
    <Loading of={plugins}>
      {({ data, order }) => {
        const byName = new Map(data.map((plugin) => [plugin.name, plugin]))
        const inOrder = new Map(order.map(({ hook, plugins }) => [hook, plugins.flatMap((name) => byName.get(name) ?? [])]))
        const known = new Set(STAGES.flatMap(({ hooks }) => hooks))
        const others = order.map(({ hook }) => hook).filter((hook) => !known.has(hook))
        const stages = others.length === 0 ? STAGES : [...STAGES, { title: 'Other', about: '', hooks: others }]
        return (
          <Panel title="Pipeline" actions={<span class="quiet">read-only: order comes from code and gateway.config.ts</span>}>
            <AddressNote name="plugin" shown={byName.has(lit ?? '') ? lit : null} />
            <ol class="pipeline">
              {stages.map(({ title, about, hooks }) => (
                <li key={title}>
                  <h3>{title}</h3>
                  <p class="quiet">{about}</p>
                  <dl>
                    {hooks.map((hook) => {
                      const at = [...new Set(inOrder.get(hook) ?? [])]
                      return (
                        <div key={hook} class={at.length === 0 ? 'empty-hook' : ''}>
                          <dt>{hook}</dt>
                          {at.map(({ name, source, state }) => (
                            <dd key={name}>
                              <button
                                type="button"
                                class={`plugin ${source === 'hookgate' ? '' : 'own'}`}
                                aria-pressed={lit === name}
                                title={source === 'hookgate' ? undefined : 'Your own plugin'}
                                onClick={() => setQuery({ plugin: lit === name ? null : name })}
                              >
                                {name}
                                {source !== 'hookgate' && ' ★'}
                                {state === 'degraded' && ' ⚠'}
                              </button>
                            </dd>
                          ))}
                        </div>
                      )
                    })}
                  </dl>
                </li>
              ))}
            </ol>
          </Panel>
        )
      }}
    </Loading>
  )
}
