import { type Got, useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { ThisReplica } from '../../ui/notes/this-replica.tsx'
import { Facts, Loading, Peek } from '../../ui/page.tsx'
import { PluginFrame, pluginPages } from '../../ui/plugins/plugin-frame.tsx'
import { PluginPanels } from '../../ui/plugins/plugin-panels.tsx'
import { Status, Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/text.tsx'

export function Plugins() {
  const plugins = useGet('/api/plugins')
  const open = address.value.get('open')
  return (
    <Loading of={plugins}>
      {({ data }) => {
        const shown = data.find(({ name }) => name === open)
        const page = shown?.pages.find(({ id }) => id === address.value.get('page'))
        if (shown !== undefined && page !== undefined && pluginPages)
          return (
            <>
              <Button onClick={() => setQuery({ page: null })}>Back to the plugins</Button>
              <PluginFrame key={`${shown.name} ${page.id}`} plugin={shown.name} page={page} />
            </>
          )
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <section class="panel">
              <AddressNote name="open" shown={shown?.name} />
              <AddressNote name="page" />
              <Table
                label="Plugins"
                rows={data}
                rowKey={({ name }) => name}
                selected={open}
                onOpen={({ name }) => setQuery({ open: name === open ? null : name })}
                columns={[
                  { id: 'name', title: 'Plugin', cell: ({ name }) => name },
                  {
                    id: 'source',
                    title: 'From',
                    cell: ({ source, specifier }) => (source === 'hookgate' ? source : <Tag>{specifier ?? source}</Tag>),
                  },
                  { id: 'version', title: 'Version', wide: true, cell: ({ version }) => version ?? '—' },
                  { id: 'hooks', title: 'Hooks', numeric: true, wide: true, cell: ({ hooks }) => count(hooks.length) },
                  { id: 'routes', title: 'Routes', numeric: true, wide: true, cell: ({ routes }) => count(routes.length) },
                  {
                    id: 'state',
                    title: 'State',
                    cell: ({ state }) => <Status tone={state === 'running' ? 'ok' : 'failed'}>{state}</Status>,
                  },
                  { id: 'errors', title: 'Errors', numeric: true, cell: ({ errors }) => count(errors) },
                ]}
              />
            </section>
            {shown !== undefined && (
              <Peek title={shown.name} onClose={() => setQuery({ open: null })}>
                <Facts
                  facts={[
                    ['From', shown.specifier ?? shown.source],
                    ['Version', shown.version ?? '—'],
                    ['Plugin API', String(shown.api_version)],
                    ['Set up in generation', String(shown.generation)],
                    ['Hooks', shown.hooks.join(', ') || 'none'],
                    ['Services', shown.services.join(', ') || 'none'],
                    ['Routes', shown.routes.join(', ') || 'none'],
                    [
                      'Ran',
                      shown.hook_runs.length === 0 ? (
                        'no hook'
                      ) : (
                        <span key="ran">
                          {shown.hook_runs
                            .map(
                              ({ hook, ran, refused }) =>
                                `${hook} ${count(ran)}${refused > 0 ? `, ${count(refused)} refused` : ''}`,
                            )
                            .join(' · ')}{' '}
                          <ThisReplica />
                        </span>
                      ),
                    ],
                    ['Errors since the start', count(shown.errors)],
                    [
                      'Last error',
                      shown.last_error === null ? (
                        'none'
                      ) : (
                        <>
                          at {shown.last_error.hook} <Ago at={shown.last_error.at} />; the log has the message
                        </>
                      ),
                    ],
                  ]}
                />
                {shown.pages.length > 0 && <Pages of={shown.pages} />}
                <PluginPanels slot="page" plugin={shown.name} />
              </Peek>
            )}
          </div>
        )
      }}
    </Loading>
  )
}

function Pages({ of }: { of: Got<'/api/plugins'>['data'][number]['pages'] }) {
  if (!pluginPages) return <p class="quiet">Pages of plugins are switched off: GATEWAY_DASHBOARD_PLUGIN_PAGES.</p>
  return (
    <div class="actions">
      {of.map(({ id, title }) => (
        <Button key={id} onClick={() => setQuery({ page: id }, { replace: false })}>
          Open {title}
        </Button>
      ))}
    </div>
  )
}
