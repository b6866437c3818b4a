// A new connection in three steps: the provider, its credential, a test.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { count } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../../ui/form.tsx'
import { Loading } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { TestResult, testConnection } from './test-button.tsx'

type Provider = Got<'/api/registry'>['data'][number]
type Tested = paths['/api/providers/{id}/test']['post']['responses'][200]['content']['application/json']

const SHOWN = 5

const close = (): void => setQuery({ add: null })

/** A server that the registry does not know: it is named and described by hand. */
const OTHER: Pick<Provider, 'id' | 'name' | 'docs_url' | 'base_url' | 'needs_key'> = {
  id: '',
  name: 'another server',
  docs_url: null,
  base_url: null,
  needs_key: false,
}
type Chosen = typeof OTHER

/** The value of the address that names no provider. */
const ANY = '1'

/** @param wanted id of a provider; any other value: it is chosen first */
export function AddConnection({ wanted }: { wanted: string }) {
  const registry = useGet('/api/registry')
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [back, setBack] = useState(false)
  const [made, setMade] = useState<{ id: number; test: Tested } | null>(null)
  const provider = chosen ?? (back ? undefined : registry.data?.data.find(({ id }) => id === wanted)) ?? null
  const awaited = wanted !== ANY && registry.data === undefined
  return (
    <Dialog title={provider === null ? 'Add a connection' : `Connect ${provider.name}`} onClose={close}>
      <ol class="steps" aria-label="Steps">
        {STEPS.map((step, index) => (
          <li key={step} aria-current={index === (made !== null ? 2 : provider === null ? 0 : 1) ? 'step' : undefined}>
            {step}
          </li>
        ))}
      </ol>
      {provider === null && awaited && <Loading of={registry}>{() => null}</Loading>}
      {provider === null && !awaited && <Choose onChoose={setChosen} />}
      {provider !== null && made === null && (
        <Credential
          of={provider}
          onMade={setMade}
          onBack={() => {
            setChosen(null)
            setBack(true)
          }}
        />
      )}
      {made !== null && <Made {...made} />}
    </Dialog>
  )
}

const STEPS = ['Provider', 'Key', 'Test'] as const

function Choose({ onChoose }: { onChoose: (provider: Chosen) => void }) {
  const registry = useGet('/api/registry')
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  return (
    <>
      <input
        type="search"
        class="filter-input"
        aria-label="Provider"
        placeholder="openai, anthropic, ollama …"
        autofocus
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Loading of={registry}>
        {({ data }) => {
          const found = data.filter(({ id, name, aliases }) =>
            [id, name, ...aliases].some((word) => word.toLowerCase().includes(wanted)),
          )
          return (
            <ul class="providers">
              {found.map((provider) => (
                <li key={provider.id}>
                  <button type="button" onClick={() => onChoose(provider)}>
                    <strong>{provider.name}</strong> <span class="quiet">{provider.id}</span>
                    {!provider.needs_key && <Tag>no key</Tag>}
                    {provider.connections > 0 && <Tag>{count(provider.connections)} connected</Tag>}
                  </button>
                </li>
              ))}
              <li>
                <button type="button" onClick={() => onChoose(OTHER)}>
                  <strong>Another server</strong> <span class="quiet">with one of the four formats</span>
                </button>
              </li>
            </ul>
          )
        }}
      </Loading>
    </>
  )
}

type Format = 'chat' | 'messages' | 'responses' | 'generate_content'

const FORMATS: readonly (readonly [Format, string])[] = [
  ['chat', 'chat completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['generate_content', 'generate content'],
]

interface CredentialProps {
  of: Chosen
  onMade: (made: { id: number; test: Tested }) => void
  onBack: () => void
}

function Credential({ of: provider, onMade, onBack }: CredentialProps) {
  const isOther = provider.id === ''
  const [name, setName] = useState(provider.id)
  const [format, setFormat] = useState<Format>('chat')
  const [label, setLabel] = useState('main')
  const [key, setKey] = useState('')
  const [address, setAddress] = useState('')
  const add = async (): Promise<void> => {
    const { id } = await answerOf(
      api.POST('/api/providers', {
        body: {
          provider: name,
          label,
          ...(isOther && { wire_format: format }),
          ...(key !== '' && { api_key: key }),
          ...(address !== '' && { base_url: address }),
        },
      }),
    )
    await invalidate('/api/providers', '/api/registry', '/api/models')
    onMade({ id, test: await testConnection(id) })
  }
  return (
    <Form submit="Add and test" onSubmit={add} onCancel={onBack}>
      {provider.docs_url !== null && (
        <p>
          <a href={provider.docs_url} target="_blank" rel="noopener noreferrer">
            Where to get a key
          </a>
        </p>
      )}
      {isOther && (
        <div class="form-row">
          <TextField
            name="provider"
            label="Provider"
            hint="Models are named provider/model."
            placeholder="my-server"
            value={name}
            onInput={setName}
          />
          <SelectField
            name="wire_format"
            label="Format"
            options={FORMATS}
            value={format}
            onInput={(value) => setFormat(value as Format)}
          />
        </div>
      )}
      <TextField
        name="label"
        covers={isOther ? [] : ['provider', 'wire_format']}
        label="Label"
        value={label}
        onInput={setLabel}
      />
      <TextField
        name="api_key"
        label="Key"
        type="password"
        autocomplete="off"
        hint={provider.needs_key ? 'It is stored encrypted and never shown again.' : 'Not needed'}
        value={key}
        onInput={setKey}
      />
      <TextField
        name="base_url"
        label="Address"
        type="url"
        hint={provider.base_url ?? 'Of your server'}
        value={address}
        onInput={setAddress}
      />
    </Form>
  )
}

function Made({ id, test }: { id: number; test: Tested }) {
  const catalog = useGet('/api/model-catalog', { query: { connection_id: id } })
  const models = catalog.data?.data ?? []
  const first = models.find(({ allowed, mode }) => allowed && mode === 'chat')
  return (
    <div class="stack">
      <p>
        <TestResult of={test} />
      </p>
      {catalog.data !== undefined && (
        <p>
          {count(models.length)} {models.length === 1 ? 'model' : 'models'} found
          {models.length > 0 &&
            `: ${models
              .slice(0, SHOWN)
              .map(({ model }) => model)
              .join(', ')}`}
          {models.length > SHOWN && ' …'}
        </p>
      )}
      {!test.ok && <p class="quiet">The connection is kept. Change its key or address in its details, and test it again.</p>}
      <div class="form-actions">
        <a
          class="button"
          href={href(
            first === undefined ? '/playground' : `/playground?model=${encodeURIComponent(`${first.provider}/${first.model}`)}`,
          )}
        >
          Try it in the playground
        </a>
        <Button kind="primary" onClick={() => setQuery({ add: null, open: String(id) })}>
          Done
        </Button>
      </div>
    </div>
  )
}
