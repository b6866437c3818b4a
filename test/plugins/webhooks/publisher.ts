// A process of its own: publishes events without end, and says the number of each that was queued. Started with the gateway's
// environment as JSON and the port of the receiver.
import { createGateway } from '../../../adapters/node/gateway.ts'
import { outboundPost } from '../../../adapters/transport/outbound-post.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import { preset } from '../../../plugins/preset.ts'
import { PUBLIC, SOMETHING } from './support.ts'

const [env, port, first] = process.argv.slice(2) as [string, string, string]
let outbox: Services['outbox'] | undefined
const observer = definePlugin({
  name: 'observer',
  requires: ['outbox'],
  setup(gateway) {
    outbox = gateway.use('outbox')
  },
})
const gateway = await createGateway(
  { plugins: [...preset(), observer()] },
  {
    log: silentLog,
    env: JSON.parse(env) as Record<string, string>,
    outboundPost: outboundPost({
      resolve: async () => [{ address: PUBLIC, family: 4 }],
      dial: () => ({ host: '127.0.0.1', port: Number(port) }),
    }),
  },
)
for (let number = Number(first); ; number++) {
  await outbox?.publish({ ...SOMETHING, data: { ...SOMETHING.data, account_id: String(number) } })
  const queued = await gateway.db?.get<{ n: number }>({ text: 'SELECT COUNT(*) AS n FROM webhooks_events', params: [] })
  if (queued !== undefined) process.stdout.write(`${number}\n`)
}
