// `hookgate dev`: serves the gateway for those who write its configuration and plugins. It loads changed files, keeps the last good
// configuration, and prints each request.
import { relative } from 'node:path'
import type { Listener } from 'listhen'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { withPreset } from '../../node/gateway.ts'
import type { LoadOptions } from '../../node/loading/load-gateway.ts'
import { serve } from '../../node/server/serve.ts'
import { action } from '../action.ts'
import { styled } from '../output/table.ts'
import { terminalLog } from '../output/terminal-log.ts'
import { onHangup } from '../serve/hangup.ts'
import { milliseconds, onSignals, refuseBadPort, surviveDeafReaders, warnIfOpen, warnOfSlips } from '../serve/server-process.ts'
import { workerCount } from '../workers/count.ts'
import { baseUrls } from './base-urls.ts'
import { loadFailure } from './code-frame.ts'
import { attempted, copyToClipboard, openInBrowser } from './desktop.ts'
import { firstLoad } from './first-load.ts'
import { inspector } from './inspector.ts'
import { devListen, networkUrl } from './listen.ts'
import { type DevTunnel, openTunnel } from './tunnel.ts'

const args = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)' },
  port: { type: 'string', description: 'Port; the next free one if it is in use (GATEWAY_PORT)' },
  host: { type: 'string', description: 'Bind address (GATEWAY_HOST)' },
  'data-dir': { type: 'string', description: 'Data directory (GATEWAY_DATA_DIR)' },
  https: { type: 'boolean', description: 'Serve HTTPS with a certificate that is made at the start' },
  open: { type: 'boolean', description: 'Open the dashboard in the browser' },
  clipboard: { type: 'boolean', description: 'Copy the address' },
  qr: { type: 'boolean', description: 'Print the address for other devices as a QR code; with --host 0.0.0.0 or --tunnel' },
  tunnel: { type: 'boolean', description: 'Open a tunnel with cloudflared; it needs required keys and a password' },
  verbose: { type: 'boolean', description: 'Print the hooks that ran for each request, and what each changed' },
  'drain-ms': { type: 'string', description: 'Time running requests get after Ctrl-C, ms', default: '3000' },
} as const

export const devCommand = action({
  name: 'dev',
  description: 'Serve while you write plugins: changed files are loaded at once, and each request is printed.',
  args,
  async run(given) {
    surviveDeafReaders()
    const drainMs = milliseconds(given['drain-ms'], '--drain-ms')
    if (given.port !== undefined) refuseBadPort(given.port)
    const print = (text: string): void => void process.stderr.write(`${text}\n`)
    const log = terminalLog(systemClock, print)
    if (workerCount(process.env.GATEWAY_WORKERS, 'GATEWAY_WORKERS') > 1)
      log.warn('dev.one_process', { hint: 'GATEWAY_WORKERS applies to `hookgate serve`. This command serves in one process.' })
    const { plugin, tracer } = inspector({ verbose: given.verbose === true, print })
    const options: LoadOptions = {
      flags: { CONFIG: given.config, PORT: given.port, HOST: given.host, DATA_DIR: given['data-dir'] },
      // Reloads have lines of their own.
      ports: {
        log: { ...log, info: (message, fields) => message !== 'config.reloaded' && log.info(message, fields) },
        hookTracer: tracer,
      },
      extend: (config: GatewayConfig) => ({ ...config, plugins: [...(withPreset(config).plugins ?? []), plugin] }),
      onRefresh: (error) => print(error === null ? styled('loaded', 'green') : `${loadFailure(error)}\n  ${KEPT}`),
    }
    const loaded = await firstLoad(options, (error) => print(`${loadFailure(error)}\n  ${WAITING}`))
    const { gateway } = loaded
    const host = gateway.env.get<string>('HOST')
    let listening: Listener | null = null
    const running = await serve(gateway, {
      host,
      port: 0,
      publicUrl: gateway.env.get<string | null>('PUBLIC_URL'),
      drainMs,
      log,
      async listen(listener) {
        listening = await devListen(listener, { host, port: gateway.env.get<number>('PORT'), https: given.https === true })
        return listening.server
      },
    })
    const listener = listening as unknown as Listener
    let tunnel: DevTunnel | null = null
    onSignals(async () => {
      await tunnel?.close()
      await running.close()
      await loaded.close()
    }, log)
    onHangup(() => void loaded.refresh())
    warnIfOpen(host, gateway.env.get<boolean>('REQUIRE_API_KEY'), log)
    warnOfSlips(gateway.env, log)
    const url = listener.url.replace(/\/$/, '')
    console.log(`hookgate listening on ${url}`)
    const watched =
      loaded.path === null ? 'no file: `hookgate init` makes one' : `${relative(process.cwd(), loaded.path)} and what it imports`
    const copied =
      given.clipboard === true &&
      (await attempted(
        () => copyToClipboard(url),
        (reason) => log.warn('dev.not_copied', { reason, hint: 'On Linux, install xsel, xclip or wl-clipboard.' }),
      ))
    print(
      [...(copied ? [row('copied', url)] : []), row('dashboard', `${url}/`), baseUrls(url), row('watching', watched)].join('\n'),
    )
    if (given.open === true)
      await attempted(
        () => openInBrowser(`${url}/`),
        (reason) => log.warn('dev.not_opened', { reason, hint: `Open ${url}/ in a browser.` }),
      )
    tunnel = given.tunnel ? await openTunnel(gateway) : null
    if (tunnel !== null) print(row('tunnel', tunnel.url))
    const shared = tunnel?.url ?? networkUrl(listener, host)
    if (given.qr && shared === null)
      log.warn('dev.no_qr', { hint: 'Other devices cannot reach this address. Add --host 0.0.0.0 or --tunnel.' })
    if (given.qr && shared !== null) await listener.showURL({ qr: true, publicURL: shared })
  },
})

const WAITING = 'The server starts when a file changes; Ctrl-C ends the command.'
const KEPT = 'The last good configuration keeps serving.'

function row(name: string, text: string): string {
  return `  ${styled(name.padEnd(9), 'dim')}  ${text}`
}
