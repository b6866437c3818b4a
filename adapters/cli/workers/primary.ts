// The primary process of `hookgate serve --workers n`: it starts the workers, replaces those that die, and holds the state that they share.
// The workers accept connections from one listening socket. The primary sees none: a connection that it was handing over would hang when
// the worker dies in that moment (node:cluster, round robin).
import cluster, { type Worker } from 'node:cluster'
import type { Duplex } from 'node:stream'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Logger, Timer } from '../../../core/types/ports/ports.ts'
import { type Authority, authority } from '../../stores/ipc/authority.ts'
import { onHangup } from '../serve/hangup.ts'
import { type Restarts, restarts } from './restarts.ts'
import { LINK_FD, type Listening, type Order, PORT, SEAT } from './seat.ts'

export interface PrimaryOptions {
  /** At least 2. */
  readonly count: number
  readonly log: Logger
}

interface Place {
  readonly number: number
  readonly restarts: Restarts
  worker: Worker | null
  bornAt: number
  listened: boolean
  timer: Timer | null
}

/** Returns at once; the process ends with its workers. */
export function runPrimary({ count, log }: PrimaryOptions): void {
  // It is fixed by the next call.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'] })
  const shared: Authority = authority({ clock: systemClock, rests: { metrics: keepCounts } })
  const places: Place[] = Array.from({ length: count }, (_, at) => ({
    ...{ number: at + 1, restarts: restarts(), worker: null, bornAt: 0, listened: false, timer: null },
  }))
  /** The address, once the first worker listens. */
  let url: string | null = null
  let all = false
  let stopping = false
  let code = 0

  const order = (worker: Worker | null, what: Order): void => void worker?.send(what, () => {})

  const start = (place: Place): void => {
    place.timer = null
    place.bornAt = performance.now()
    // After `--port 0` every later worker listens on the port that the first one got.
    const port = url === null ? {} : { [PORT]: new URL(url).port }
    const worker = cluster.fork({ [SEAT]: `${place.number}/${count}`, ...port })
    place.worker = worker
    shared.connect(place.number, worker.process.stdio[LINK_FD] as unknown as Duplex)
    worker.on('message', (message: Partial<Listening>) => {
      if (typeof message.listening === 'string') listens(place, message.listening)
    })
    worker.on('error', () => {})
    worker.on('exit', (status, signal) => ended(place, worker, status, signal))
  }

  const listens = (place: Place, at: string): void => {
    place.listened = true
    if (url === null) {
      url = at
      console.log(`hookgate listening on ${url}`)
      order(place.worker, 'announce')
      // The first one alone has created the database and the master key, and migrated the tables.
      for (const other of places) if (other !== place && !stopping) start(other)
    }
    if (all || !places.every(({ listened }) => listened)) return
    all = true
    log.info('serve.workers', { workers: count })
  }

  const ended = (place: Place, { process: { pid } }: Worker, status: number | null, signal: string | null): void => {
    place.worker = null
    if (stopping) {
      // Before it handles signals, a worker ends by this one.
      if (status !== 0 && signal !== 'SIGTERM') code = 1
      return endWhenAlone()
    }
    // It said why on stderr.
    if (url === null) process.exit(status || 1)
    const wait = place.restarts.after(performance.now() - place.bornAt)
    const fields = { worker: place.number, pid, ...(signal === null ? { code: status } : { signal }), restart_ms: wait }
    if (status === 0) log.info('worker.ended', fields)
    else log.error('worker.died', { ...fields, hint: 'Another one takes its place and settles its requests.' })
    if (wait === 0) start(place)
    else place.timer = systemClock.timer(wait, () => start(place))
  }

  const endWhenAlone = (): void => {
    if (places.every(({ worker }) => worker === null)) process.exit(code)
  }

  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) {
      for (const { worker } of places) worker?.process.kill('SIGKILL')
      process.exit(1)
    }
    stopping = true
    log.info('serve.draining', { signal })
    for (const place of places) {
      place.timer?.cancel()
      place.worker?.process.kill('SIGTERM')
    }
    endWhenAlone()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  onHangup(() => {
    log.info('serve.reloading', { signal: 'SIGHUP' })
    for (const { worker } of places) order(worker, 'reload')
  })
  // The workers notice that it is gone, and end.
  const crash = (error: unknown): void => {
    log.error('serve.crash', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    process.exit(1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  start(places[0] as Place)
}

/** Loads the library for metrics only when a worker whose metrics were read has died. */
async function keepCounts(rest: unknown, last: unknown): Promise<unknown> {
  const { countsOf } = await import('../../../core/metrics/merge.ts')
  return countsOf([rest, last])
}
