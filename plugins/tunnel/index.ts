// Opens the gateway of one user to the internet through an installed program: cloudflared, or tailscale funnel. It is refused as long as
// strangers could use the gateway without a key or its control plane without a password. The cloud profile has none of its routes.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { type Availability, PROVIDERS, type ProviderName, tunnelProviders } from './providers.ts'
import { endOrphans, stateFile } from './state-file.ts'
import { type ChildState, type Supervisor, supervisor } from './supervisor.ts'

const tunnelStatus = z.strictObject({
  available: z.boolean().describe('The program is installed.'),
  state: z.enum(['off', 'starting', 'running', 'waiting', 'failed']),
  running: z.boolean(),
  url: z.string().nullable().describe('The public address.'),
  pid: z.int().nullable(),
  started_at: z.string().nullable(),
  error: z.string().nullable().describe('Why the program ended last, or why the tunnel is not opened.'),
})
const statusSchema = z.strictObject({
  cloudflare: tunnelStatus,
  tailscale: tunnelStatus.extend({ logged_in: z.boolean() }),
})
const named = z.strictObject({ provider: z.enum(PROVIDERS) })

export const tunnel = definePlugin({
  name: 'tunnel',
  requires: ['signIn'],
  config: z.strictObject({
    dataDir: z.string().nullable().default(null).meta({ env: 'DATA_DIR' }),
    requireApiKey: z.boolean().default(false).meta({ env: 'REQUIRE_API_KEY' }),
  }),
  setup(gateway, { dataDir, requireApiKey }) {
    if (gateway.profile !== 'local') return
    const { clock, log } = gateway
    const siblings = gateway.optional('siblings')()
    const status = gateway.use('status')
    const processes = gateway.use('processes')
    const signIn = gateway.use('signIn')
    const file = stateFile(dataDir)
    const enabled = new Set<ProviderName>()
    let address: string | null = null
    let unfollow = (): void => {}
    let restored: Promise<void> = Promise.resolve()
    let ended = false

    const save = (): Promise<void> =>
      file.write(
        Object.fromEntries(
          PROVIDERS.map((name) => {
            const { pid } = children[name].state
            return [name, { enabled: enabled.has(name), pid, owner: pid === null ? null : process.pid }]
          }),
        ),
      )
    const childOf = (name: ProviderName): Supervisor =>
      supervisor(clock, tunnelProviders[name].urlIn, (state) => {
        report(name, state)
        // The state outlives the gateway, its children do not.
        if (!ended) save().catch((error: Error) => log.error('tunnel.not_saved', { error: error.message }))
      })
    const report = (provider: ProviderName, { state, url, error }: ChildState): void => {
      if (state === 'running') log.info('tunnel.open', { provider, url })
      if (state === 'waiting') log.warn('tunnel.ended', { provider, error })
      if (state === 'failed') log.error('tunnel.failed', { provider, error, hint: tunnelProviders[provider].hint })
    }
    const children = { cloudflare: childOf('cloudflare'), tailscale: childOf('tailscale') }

    const guard = (): string | null => {
      // The request that closes a tunnel may reach another process than the one that opened it.
      if (siblings !== undefined)
        return 'One of several workers cannot open a tunnel. Set GATEWAY_WORKERS=1, or run the program itself.'
      if (requireApiKey && signIn.required) return null
      const missing = [
        ...(requireApiKey ? [] : ['GATEWAY_REQUIRE_API_KEY=true']),
        ...(signIn.required ? [] : ['GATEWAY_DASHBOARD_PASSWORD_HASH']),
      ]
      return `Strangers could use this gateway through a tunnel. Set ${missing.join(' and ')} first.`
    }
    const open = (name: ProviderName): void => {
      if (address !== null && guard() === null) children[name].start(tunnelProviders[name].command(address))
    }
    const shown = (name: ProviderName, { available }: Availability): z.output<typeof tunnelStatus> => {
      const { state, url, pid, startedAt, error } = children[name].state
      const refused = enabled.has(name) && state === 'off' ? guard() : null
      const started_at = startedAt === null ? null : new Date(startedAt).toISOString()
      return { available, state, running: state === 'running', url, pid, started_at, error: error ?? refused }
    }
    const answer = async (): Promise<z.output<typeof statusSchema>> => {
      const [cloudflare, tailscale] = await Promise.all(PROVIDERS.map((name) => tunnelProviders[name].check()))
      return {
        cloudflare: shown('cloudflare', cloudflare as Availability),
        tailscale: { ...shown('tailscale', tailscale as Availability), logged_in: tailscale?.loggedIn === true },
      }
    }

    gateway.hook('ready', async () => {
      const before = await file.read()
      for (const name of PROVIDERS) if (before[name]?.enabled === true) enabled.add(name)
      // Commands of the command line load the gateway too, and have no server.
      unfollow = status.whenListening((url) => {
        address = local(url)
        const refused = enabled.size > 0 ? guard() : null
        if (refused !== null) log.warn('tunnel.refused', { hint: refused })
        restored = endOrphans(before, processes).then(() => {
          if (!ended) for (const name of enabled) open(name)
        })
      })
    })
    gateway.api({
      method: 'GET',
      path: '/api/tunnel/status',
      summary: 'Tunnels of this gateway to the internet.',
      role: 'manage',
      response: statusSchema,
      handler: answer,
    })
    gateway.api({
      method: 'POST',
      path: '/api/tunnel/enable',
      summary: 'Opens a tunnel. It needs required client keys and a dashboard password.',
      role: 'manage',
      body: named,
      response: statusSchema,
      audit: 'tunnel.enable',
      async handler({ body: { provider }, audited }) {
        audited(provider)
        const refused = guard()
        if (refused !== null) throw conflict('tunnel_unguarded', refused)
        if (address === null)
          throw conflict('no_server', 'This gateway has no server of its own whose address a tunnel could lead to.')
        const { program, hint, check } = tunnelProviders[provider]
        const { available, loggedIn } = await check()
        if (!available) throw conflict('not_installed', `${program} is not installed. ${hint}`)
        if (loggedIn === false) throw conflict('not_logged_in', `${program} is not logged in. Run \`tailscale up\`.`)
        enabled.add(provider)
        open(provider)
        await save()
        return answer()
      },
    })
    gateway.api({
      method: 'POST',
      path: '/api/tunnel/disable',
      summary: 'Closes a tunnel.',
      role: 'manage',
      body: named,
      response: statusSchema,
      audit: 'tunnel.disable',
      async handler({ body: { provider }, audited }) {
        audited(provider)
        enabled.delete(provider)
        await children[provider].stop()
        await save()
        return answer()
      },
    })
    return async () => {
      ended = true
      unfollow()
      await restored
      await Promise.all(PROVIDERS.map((name) => children[name].stop()))
    }
  },
})

/** Returns the address as this machine reaches it: a server that listens everywhere has the loopback address too. */
function local(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? '127.0.0.1' : hostname
  return `${protocol}//${host}:${port}`
}

function conflict(code: string, message: string): GatewayError {
  return new GatewayError(message, { status: 409, type: 'invalid_request_error', code })
}

export default tunnel
