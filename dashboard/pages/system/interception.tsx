// The interception proxy: whether it runs, its CA, the hosts that lead to it, and the targets of the models that tools name.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { download } from '../../api/download.ts'
import { ApiError } from '../../api/error.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import { UNKNOWN } from '../../app/format.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Empty, Facts, Loading, Notice, Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/text.tsx'

type Proxy = Got<'/api/mitm'>
/** The answer of a change that may need a right of the system. */
type Changed = Promise<{ command: string | null }>

const LOOK_MS = 10_000

export function Interception() {
  const proxy = useGet('/api/mitm', {}, LOOK_MS)
  const [command, setCommand] = useState<string | null>(null)
  const change = async (call: Changed): Promise<void> => {
    setCommand((await call).command)
    await invalidate('/api/mitm')
  }
  return (
    <Loading of={proxy}>
      {(data) => (
        <>
          {command !== null && (
            <Notice tone="warning">
              The gateway may not do this. Run: <code>{command}</code> <Copy text={command} />
            </Notice>
          )}
          <State of={data} />
          <Authority of={data} change={change} />
          <Hosts of={data} change={change} />
          {data.hosts.length > 0 && <Aliases key={JSON.stringify(data.aliases)} of={data} />}
        </>
      )}
    </Loading>
  )
}

function State({ of: { running, enabled, port } }: { of: Proxy }) {
  const start = async (): Promise<void> => {
    await answerOf(api.POST('/api/mitm/start'))
    await invalidate('/api/mitm')
  }
  const stop = async (): Promise<void> => {
    await answerOf(api.POST('/api/mitm/stop'))
    await invalidate('/api/mitm')
  }
  return (
    <Panel
      title="Interception proxy"
      actions={
        running ? (
          <Button kind="danger" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button onClick={start}>Start</Button>
        )
      }
    >
      <Facts
        facts={[
          [
            'State',
            running ? (
              <Status key="state" tone="ok">
                runs
              </Status>
            ) : (
              <Status key="state" tone="quiet">
                off
              </Status>
            ),
          ],
          ['Address', port === null ? UNKNOWN : `127.0.0.1:${port}`],
          ['Starts with the server', enabled ? 'yes' : 'no: GATEWAY_MITM_ENABLED'],
        ]}
      />
    </Panel>
  )
}

function Authority({ of: { ca }, change }: { of: Proxy; change: (call: Changed) => Promise<void> }) {
  const install = (): Promise<void> | undefined =>
    confirm('Make this computer trust the CA of this gateway?') ? change(answerOf(api.POST('/api/mitm/ca/install'))) : undefined
  return (
    <Panel
      title="Certificate authority"
      actions={
        <>
          {ca.exists && <Button onClick={() => download('/api/mitm/ca.pem', 'hookgate-ca.pem')}>Download</Button>}
          {ca.installed ? (
            <Button kind="danger" onClick={() => change(answerOf(api.POST('/api/mitm/ca/uninstall')))}>
              Uninstall
            </Button>
          ) : (
            <Button onClick={install}>Install</Button>
          )}
        </>
      }
    >
      {ca.exists ? (
        <Facts
          facts={[
            ['Trusted by this computer', ca.installed ? 'yes, installed' : 'not installed'],
            ['SHA-256', <code key="print">{ca.fingerprint_sha256}</code>],
            ['File', <code key="path">{ca.path}</code>],
            ['Expires', <Time key="expires" at={ca.expires_at} />],
          ]}
        />
      ) : (
        <p class="quiet">The first start makes it, for this installation only.</p>
      )}
    </Panel>
  )
}

function Hosts({ of: { hosts }, change }: { of: Proxy; change: (call: Changed) => Promise<void> }) {
  return (
    <Panel title="Hosts">
      {hosts.length === 0 ? (
        <Empty title="No host is intercepted">
          <p>
            Name them in gateway.config.ts, in the option <code>hosts</code> of the plugin <code>interception</code>.
          </p>
        </Empty>
      ) : (
        <Table
          label="Hosts"
          rows={hosts}
          rowKey={({ host }) => host}
          columns={[
            { id: 'host', title: 'Host', cell: ({ host }) => <code>{host}</code> },
            { id: 'tool', title: 'Tool', wide: true, cell: ({ tool }) => tool },
            {
              id: 'mapped',
              title: 'Hosts file',
              cell: ({ mapped }) =>
                mapped ? <Status tone="ok">leads here</Status> : <Status tone="quiet">leads to the vendor</Status>,
            },
            {
              id: 'map',
              title: '',
              cell: ({ host, mapped }) => (
                <Button
                  label={mapped ? `Undo for ${host}` : `Lead here: ${host}`}
                  onClick={() => change(answerOf(api.PUT('/api/mitm/hosts', { body: { host, mapped: !mapped } })))}
                >
                  {mapped ? 'Undo' : 'Lead here'}
                </Button>
              ),
            },
          ]}
        />
      )}
    </Panel>
  )
}

function Aliases({ of: { aliases, hosts } }: { of: Proxy }) {
  const [text, setText] = useState(JSON.stringify(aliases, null, 2))
  const tools = [...new Set(hosts.map(({ tool }) => tool))]
  const send = async (): Promise<void> => {
    await answerOf(api.PUT('/api/mitm/aliases', { body: parsed(text) }))
    await invalidate('/api/mitm')
  }
  return (
    <Panel title="Models that tools name">
      <Form submit="Save" onSubmit={send}>
        <TextField
          name="*"
          label="Targets by tool and model, as JSON"
          hint={`Tools: ${tools.join(', ')}. The model * stands for every other one: {"${tools[0]}": {"*": "openai/gpt-5-mini"}}`}
          rows={6}
          value={text}
          onInput={setText}
        />
      </Form>
    </Panel>
  )
}

/** @throws ApiError at the field */
function parsed(text: string): Proxy['aliases'] {
  try {
    return JSON.parse(text) as Proxy['aliases']
  } catch (error) {
    throw new ApiError(`This is no JSON: ${(error as Error).message}`, 400, '*', null, null)
  }
}
