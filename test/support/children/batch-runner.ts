// A gateway with batches over one upstream, on the database of GATEWAY_DATA_DIR or GATEWAY_DATABASE_URL, until it is killed. Prints its
// port.
import { createGateway } from '../../../adapters/node/gateway.ts'
import { serve } from '../../../adapters/node/server/serve.ts'
import { preset } from '../../../plugins/preset.ts'
import { say } from './say.ts'

const [baseUrl, leaseMs] = process.argv.slice(2) as [string, string]
const gateway = await createGateway(
  {
    connections: { up: { provider: 'up', baseUrl, wireFormat: 'chat' } },
    plugins: preset({ batches: { leaseMs: Number(leaseMs) } }),
  },
  { env: process.env, log: { debug() {}, info() {}, warn() {}, error: (message, fields) => console.error(message, fields) } },
)
const { port } = await serve(gateway, { host: '127.0.0.1', port: 0 })
say(`${port}\n`)
