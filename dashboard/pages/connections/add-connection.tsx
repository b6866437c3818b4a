// A new connection in three steps: the provider, its credential, a test.
import { useMemo, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { count } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Loading } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { TestResult, testConnection } from './test-button.tsx'

type Provider = Got<'/api/registry'>['data'][number]
type Tested = paths['/api/providers/{id}/test']['post']['responses'][200]['content']['application/json']

const close = (): void => setQuery({ add: null })

export function AddConnection() {
  const [provider, setProvider] = useState<Provider | null>(null)
  const [made, setMade] = useState<{ id: number; test: Tested } | null>(null)
  return (
    <Dialog title={provider === null ? 'Add a connection' : `Connect ${provider.name}`} onClose={close}>
      {provider === null && <Choose onChoose={setProvider} />}
      {provider !== null && made === null && <Credential of={provider} onMade={setMade} onBack={() => setProvider(null)} />}
      {made !== null && <Made {...made} />}
    </Dialog>
  )
}

function Choose({ onChoose }: { onChoose: (provider: Provider) => void }) {
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
              {found.length === 0 && <li class="quiet">No provider has this name. For any other server use “custom”.</li>}
            </ul>
          )
        }}
      </Loading>
    </>
  )
}

interface CredentialProps {
  of: Provider
  onMade: (made: { id: number; test: Tested }) => void
  onBack: () => void
}

function Credential({ of: provider, onMade, onBack }: CredentialProps) {
  const [label, setLabel] = useState('main')
  const [key, setKey] = useState('')
  const [address, setAddress] = useState('')
  const add = async (): Promise<void> => {
    const { id } = await answerOf(
      api.POST('/api/providers', {
        body: {
          provider: provider.id,
          label,
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
      <TextField name="label" label="Label" value={label} onInput={setLabel} />
      <TextField
        name="api_key"
        label="Key"
        type="password"
        autocomplete="off"
        hint={provider.needs_key ? undefined : 'Not needed'}
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
  const models = useMemo(() => catalog.data?.data.length ?? 0, [catalog.data])
  return (
    <div class="stack">
      <p>
        <TestResult of={test} />
      </p>
      {test.ok && <p>{count(models)} models found.</p>}
      <div class="form-actions">
        <a class="button" href={href('/playground')}>
          Try it in the playground
        </a>
        <Button kind="primary" onClick={() => setQuery({ add: null, open: String(id) })}>
          Done
        </Button>
      </div>
    </div>
  )
}
