// Settings with the value that holds and where it comes from. A pinned one is changed in the configuration file.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may, me } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, Form, TextField } from '../../ui/form.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Origin, type Source } from './origin.tsx'

interface Setting {
  readonly key: string
  readonly value: unknown
  readonly source: Source
  readonly pinned: boolean
  readonly scope: 'gateway' | 'organization'
}

export function Settings() {
  const settings = useGet('/api/settings')
  const sources = useGet('/api/settings/sources')
  const filter = address.value.get('q') ?? ''
  const open = address.value.get('open')
  return (
    <Loading of={sources}>
      {(origin) => {
        const all: Setting[] = Object.entries(origin).map(([key, { source, pinned, scope }]) => ({
          key,
          source,
          pinned,
          scope,
          value: valueAt(settings.data, key),
        }))
        const rows = all.filter(({ key }) => key.includes(filter.toLowerCase()))
        return (
          <Panel title="Settings">
            <AddressNote name="open" shown={all.find(({ key }) => key === open)?.key} />
            <input
              class="filter-input"
              type="search"
              data-filter
              aria-label="Filter settings"
              placeholder="guardrails"
              value={filter}
              onInput={(event) => setQuery({ q: event.currentTarget.value })}
            />
            {rows.length === 0 && <Empty title="No setting has this name" />}
            {groupsOf(rows).map(([group, members]) => (
              <section key={group} class="setting-group">
                <h3>{group}</h3>
                <SettingTable label={group} rows={members} open={open} />
              </section>
            ))}
          </Panel>
        )
      }}
    </Loading>
  )
}

/** Settings by the first part of their name. */
function groupsOf(rows: readonly Setting[]): [string, Setting[]][] {
  const groups = new Map<string, Setting[]>()
  for (const row of rows) {
    const name = row.key.split('.')[0] ?? row.key
    groups.set(name, [...(groups.get(name) ?? []), row])
  }
  return [...groups]
}

function SettingTable({ label, rows, open }: { label: string; rows: readonly Setting[]; open: string | null }) {
  const inOrganization = me.value?.org != null
  const mayEdit = ({ pinned, scope }: Setting): boolean =>
    !pinned && may(inOrganization && scope === 'organization' ? 'manage' : 'system')
  const canReset = ({ source, scope }: Setting): boolean =>
    source === (inOrganization && scope === 'organization' ? 'organization' : 'runtime')
  return (
    <Table
      label={label}
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        { id: 'key', title: 'Setting', cell: ({ key }) => <code>{key}</code> },
        {
          id: 'value',
          title: 'Value',
          cell: (setting) =>
            open === setting.key && mayEdit(setting) ? <Edit of={setting} /> : <code>{JSON.stringify(setting.value)}</code>,
        },
        { id: 'source', title: 'From', cell: (setting) => <Origin {...setting} /> },
        {
          id: 'edit',
          title: '',
          cell: (setting) =>
            mayEdit(setting) &&
            open !== setting.key && (
              <div class="actions">
                <Button label={`Edit ${setting.key}`} onClick={() => setQuery({ open: setting.key })}>
                  Edit
                </Button>
                {canReset(setting) && (
                  <Button label={`Reset ${setting.key} to inherited`} onClick={() => save(setting.key, null)}>
                    Reset to inherited
                  </Button>
                )}
              </div>
            ),
        },
      ]}
    />
  )
}

async function save(key: string, value: unknown): Promise<void> {
  await answerOf(api.PUT('/api/settings', { body: { [key]: value } as never }))
  await invalidate('/api/settings')
}

function Edit({ of: { key, value } }: { of: Setting }) {
  const [text, setText] = useState(typeof value === 'string' ? value : JSON.stringify(value))
  const [checked, setChecked] = useState(value === true)
  const close = (): void => setQuery({ open: null })
  const send = async (): Promise<void> => {
    await save(key, typeof value === 'boolean' ? checked : typed(text, value))
    close()
  }
  return (
    <Form submit="Save" onCancel={close} onSubmit={send}>
      {typeof value === 'boolean' ? (
        <CheckField name={key} label={key} value={checked} onInput={setChecked} />
      ) : (
        <TextField
          name={key}
          label={key}
          hint={Array.isArray(value) ? 'A list, as JSON' : undefined}
          value={text}
          onInput={setText}
        />
      )}
    </Form>
  )
}

/** Reads the text as the type of the old value. Other text goes to the server as typed, and the server names the mistake. */
function typed(text: string, before: unknown): unknown {
  if (typeof before === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function valueAt(document: unknown, key: string): unknown {
  let at: unknown = document
  for (const part of key.split('.'))
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[part] : undefined
  return at
}
