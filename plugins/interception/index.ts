// Intercepts tools whose vendor is built in: their hosts lead to this machine, and their inference requests are answered by the gateway.
// Everything else is passed on to the real host. It is off by default, and the cloud profile has none of its routes.
import { definePlugin } from '../../core/plugins/define.ts'
import type { Controller } from './controller.ts'
import { type InterceptionOptions, interceptionOptions, interceptionVariables } from './options.ts'
import { interceptionRoutes } from './routes.ts'
import { aliasOf } from './table.ts'

export const interception = definePlugin({
  name: 'interception',
  config: interceptionOptions,
  variables: interceptionVariables,
  async setup(gateway, options) {
    if (gateway.profile !== 'local') return
    const { clock, log } = gateway
    const status = gateway.use('status')
    const calls = gateway.use('ownCalls')
    const keys = gateway.optional('keys')
    const { dataDir } = options
    const kept: Controller | null =
      dataDir === null
        ? null
        : (await import('./controller.ts')).controller({
            options,
            dataDir,
            clock,
            log,
            processes: gateway.use('processes'),
            conversion: ({ tool }, aliases) => ({
              calls,
              keyOf: (text) => keys()?.find(text) ?? null,
              alias: (model) => aliasOf(aliases, tool, model),
            }),
          })
    interceptionRoutes(gateway, options, kept)
    if (kept === null) return
    let unfollow = (): void => {}
    let opened: Promise<void> = Promise.resolve()
    const ended = new AbortController()
    // Commands of the command line load the gateway too, and have no server.
    gateway.hook('ready', () => {
      unfollow = status.whenListening(() => {
        opened = openOnce(kept, options, () => clock.sleep(RETRY_MS, ended.signal)).catch((error: Error) => {
          if (!ended.signal.aborted) log.error('interception.not_started', { error: error.message })
        })
      })
    })
    return async () => {
      unfollow()
      ended.abort()
      await opened
      await kept.stop()
    }
  },
})

const RETRY_MS = 1000
/** After a reload the proxy before this one has the port until its last request ends. */
const TRIES = 60

async function openOnce(kept: Controller, options: InterceptionOptions, pause: () => Promise<void>): Promise<void> {
  await kept.open()
  if (!options.enabled) return
  if (options.hosts.length === 0)
    throw new Error('GATEWAY_MITM_ENABLED is set, and the option `hosts` of the plugin `interception` names no host.')
  for (let tries = 1; ; tries++) {
    try {
      return await kept.start()
    } catch (error) {
      if (tries === TRIES || !(error as Error).message.includes('EADDRINUSE')) throw error
    }
    await pause()
  }
}

export default interception
