// The place of a worker process of `hookgate serve`: which one it is, and how it talks to the primary process.
import { Socket } from 'node:net'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { type Link, openLink } from '../../stores/ipc/link.ts'

/** Set by the primary for each worker: place and number of workers, `2/4`. */
export const SEAT = 'HOOKGATE_WORKER'
/** The port that the first worker got, for the later ones. */
export const PORT = 'HOOKGATE_WORKER_PORT'
/** The file descriptor of the worker's end of the link. */
export const LINK_FD = 4

/** From the worker to the primary: it accepts connections at this address. */
export interface Listening {
  readonly listening: string
}

/** From the primary to a worker. */
export type Order = 'announce' | 'reload'

export interface Seat {
  readonly place: number
  readonly count: number
  readonly link: Link
  /** The port of the workers that listen already; undefined: this one is the first. */
  readonly port: string | undefined
  listening(url: string): void
  on(order: Order, fn: () => void): void
}

/** Returns null in a process that is no worker. Call it once. */
export function takeSeat(): Seat | null {
  const [, place, count] = /^(\d+)\/(\d+)$/.exec(process.env[SEAT] ?? '') ?? []
  // Programs that a plugin starts are no workers.
  const port = process.env[PORT]
  delete process.env[SEAT]
  delete process.env[PORT]
  if (place === undefined || count === undefined || process.send === undefined) return null
  // A terminal sends these to the whole group: the primary decides.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  const link = openLink({
    socket: new Socket({ fd: LINK_FD }),
    place: Number(place),
    count: Number(count),
    // The primary is gone, and with it the address and the shared state.
    lost: () => process.exit(1),
  })
  return {
    place: Number(place),
    count: Number(count),
    link,
    port,
    listening: (url) => void process.send?.({ listening: url } satisfies Listening),
    on: (order, fn) => void process.on('message', (message: unknown) => message === order && fn()),
  }
}

/** Adds the worker's place to each line. */
export function workerLog(log: Logger, worker: number): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: object) => log[level](message, { worker, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
