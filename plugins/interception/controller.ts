// Starts and stops the proxy, and undoes what it wrote outside of its folder: when it stops, when the process exits, and at the next start
// after a crash.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { serialize } from '../../core/timing/serialize.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { Processes } from '../../core/types/ports/processes.ts'
import { type Authority, keptAuthority, newAuthority } from './authority.ts'
import type { Conversion } from './convert.ts'
import { defaultHostsFile, mappedHosts, writeHosts } from './hosts-file.ts'
import type { InterceptedHost, InterceptionOptions } from './options.ts'
import { openProxy, type RunningProxy } from './proxy.ts'
import { type InterceptionState, readState, writeState } from './state-file.ts'
import { type TrustStore, trustStore } from './trust-store.ts'

export interface Controller {
  readonly running: RunningProxy | null
  readonly authority: Authority | null
  readonly trust: TrustStore
  aliases(): InterceptionState['aliases']
  mapped(): ReadonlySet<string>
  /** Reads what is kept, and undoes what a crashed process left. */
  open(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  /** Each returns the command that the operator has to run; null: it is done. */
  map(host: string, mapped: boolean): Promise<string | null>
  install(): Promise<string | null>
  uninstall(): Promise<string | null>
  setAliases(aliases: InterceptionState['aliases']): Promise<void>
}

export interface ControllerOptions {
  readonly options: InterceptionOptions
  readonly dataDir: string
  readonly clock: Clock
  readonly log: Logger
  readonly processes: Processes
  conversion(entry: InterceptedHost, aliases: InterceptionState['aliases']): Conversion
}

export function controller({ options, dataDir, clock, log, processes, conversion }: ControllerOptions): Controller {
  const folder = join(dataDir, 'mitm')
  const hostsFile = options.hostsFile ?? defaultHostsFile()
  const names = options.hosts.map(({ host }) => host)
  const trust = trustStore(options.trustStore)
  const now = () => clock.now()
  let state: InterceptionState = { aliases: {}, hosts: [], written: null }
  let running: RunningProxy | null = null
  let authority: Authority | null = null
  /** True: this process wrote there, and has to undo it. */
  const ours = { hostsFile: false, ca: false }

  const save = async (change: Partial<InterceptionState> = {}): Promise<void> => {
    const written = ours.hostsFile || ours.ca ? { ...ours, pid: process.pid } : null
    state = { ...state, ...change, written }
    await writeState(folder, state)
  }
  const told = (what: string, command: string | null): string | null => {
    if (command !== null) log.warn('interception.not_permitted', { what, hint: `Run: ${command}` })
    return command
  }
  const undoNow = (): void => {
    if (ours.hostsFile) writeHosts(hostsFile, [])
    if (ours.ca && trust.file !== null) rmSync(trust.file, { force: true })
  }
  const needed = async (): Promise<Authority> => {
    authority = (await keptAuthority(folder, names, now)) ?? (await newAuthority(folder, names, now))
    return authority
  }
  const wanted = (): string[] => (options.manageHosts ? names : names.filter((host) => state.hosts.includes(host)))
  const writeOurs = async (): Promise<string | null> => {
    // Noted first: a crash in between is undone, too.
    ours.hostsFile = true
    await save()
    const command = told('the hosts file', writeHosts(hostsFile, wanted()))
    if (wanted().length === 0 && command === null) ours.hostsFile = false
    await save()
    return command
  }
  const clear = async (): Promise<void> => {
    if (!ours.hostsFile && !ours.ca) return
    if (ours.hostsFile && told('the hosts file', writeHosts(hostsFile, [])) === null) ours.hostsFile = false
    if (ours.ca && told('the trust store', await trust.uninstall(authority)) === null) ours.ca = false
    await save()
  }

  return {
    get running() {
      return running
    },
    get authority() {
      return authority
    },
    trust,
    aliases: () => state.aliases,
    mapped: () => mappedHosts(hostsFile),
    async open() {
      state = await readState(folder)
      authority = await keptAuthority(folder, names, now)
      const { written } = state
      // Another gateway that still runs wrote it. In a container, a crashed one often had the pid of this one.
      if (written === null || (written.pid !== process.pid && processes.runs(written.pid))) return
      Object.assign(ours, { hostsFile: written.hostsFile, ca: written.ca })
      await clear()
    },
    start: serialize(async () => {
      if (running !== null) return
      const ca = await needed()
      running = await openProxy({
        port: options.port,
        hosts: options.hosts,
        authority: ca,
        conversion: (entry) => conversion(entry, state.aliases),
      })
      process.on('exit', undoNow)
      log.info('interception.started', { port: running.port, hosts: names })
      if (wanted().length > 0) await writeOurs()
      if (!options.installCa || trust.installed(ca)) return
      ours.ca = true
      await save()
      told('the trust store', await trust.install(ca))
    }),
    async stop() {
      const stopped = running
      running = null
      // First: as long as the port is taken, no other proxy can have written anything.
      await clear()
      await stopped?.close()
      process.off('exit', undoNow)
      if (stopped !== null) log.info('interception.stopped', {})
    },
    async map(host, mapped) {
      const hosts = mapped ? [...new Set([...state.hosts, host])] : state.hosts.filter((one) => one !== host)
      await save({ hosts })
      return running === null ? null : writeOurs()
    },
    async install() {
      return told('the trust store', await trust.install(await needed()))
    },
    async uninstall() {
      const command = told('the trust store', await trust.uninstall(authority))
      if (command === null) ours.ca = false
      await save()
      return command
    },
    setAliases: (aliases) => save({ aliases }),
  }
}
