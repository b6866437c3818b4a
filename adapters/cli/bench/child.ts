// A process of `hookgate bench`: the mock upstream, the bare proxy or the gateway. It reports its port and, when asked, its CPU time.
import type { Server } from 'node:http'
import { bareProxy, mockUpstream } from './servers.ts'

export interface ChildJob {
  readonly role: 'upstream' | 'proxy' | 'gateway'
  /** Address of the upstream; empty for the upstream itself. */
  readonly upstream: string
  /** A folder for the gateway's database. */
  readonly dataDir: string
}

/** The port once, then CPU time in µs for each question. */
export type ChildMessage = { readonly port: number } | { readonly cpuUs: number }

process.once('message', (job: ChildJob) => void run(job))
// The parent has ended.
process.once('disconnect', () => process.exit(0))

async function run(job: ChildJob): Promise<void> {
  const port = await portOf(job)
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    tell({ cpuUs: user + system })
  })
  tell({ port })
}

function tell(message: ChildMessage): void {
  process.send?.(message)
}

async function portOf({ role, upstream, dataDir }: ChildJob): Promise<number> {
  if (role === 'upstream') return listening(mockUpstream())
  if (role === 'proxy') return listening(bareProxy(upstream))
  const [{ createGateway }, { serve }, { silentLog }] = await Promise.all([
    import('../../node/gateway.ts'),
    import('../../node/server/serve.ts'),
    import('../../../core/log.ts'),
  ])
  const connections = { mock: { provider: 'custom', baseUrl: `${upstream}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' } } as const
  const gateway = await createGateway(
    { connections, options: { dataDir } },
    { log: silentLog, env: { GATEWAY_DATA_DIR: dataDir } },
  )
  const { port } = await serve(gateway, { host: '127.0.0.1', port: 0, drainMs: 0, log: silentLog })
  return port
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)))
}
