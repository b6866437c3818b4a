// The gateway's one Redis connection. It never delays the boot and queues no commands while Redis is unavailable. A hanging server costs
// at most 50 ms per call until the breaker opens. The URL never appears in a log or an error.
import type { Redis } from 'ioredis'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import { watchAnswers } from './answer-watch.ts'
import { storeBreaker } from './store-breaker.ts'

export interface RedisOptions {
  /** redis:// or rediss://, with credentials and database number. */
  url: string
  /** Keys begin with `gw:<env>:`. Gateways with the same value share their limits. */
  env: string
  clock: Clock
  log: Logger
  /** Longest silence while an answer is due, ms; default 50. */
  commandTimeoutMs?: number
}

export interface RedisLink {
  /** `gw:<env>:` */
  readonly prefix: string
  readonly redis: Redis
  readonly name: 'redis'
  /** True when the connection is ready and the breaker is closed. */
  readonly usable: boolean
  /** True when it was ready at least once since boot. */
  readonly everReady: boolean
  /** Returns null when Redis is unavailable: then nothing was sent. Rejects when Redis fails or does not answer in time. */
  attempt<T>(operation: (redis: Redis) => Promise<T>): Promise<T> | null
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 500
/** Many commands wait for one another: one that is not the next in line may wait for this many time limits. */
const MAX_WAITS = 5
const MAX_RECONNECT_MS = 2000
const DATABASE_ANSWER_MS = 300
const NO_DATABASE = /DB index/i

/**
 * Waits only when the URL names a database number, for at most 300 ms. An unreachable server is not an error.
 * @throws Error when the URL is invalid, when the server does not have that database, or when `ioredis` is not installed.
 */
export async function openRedis({ url, env, clock, log, commandTimeoutMs = 50 }: RedisOptions): Promise<RedisLink> {
  if (!/^rediss?:$/.test(protocolOf(url))) throw new Error('GATEWAY_REDIS_URL must be a redis:// or rediss:// URL.')
  const redis = new (await loadClient())(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: 30_000,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_MS),
    // The replica was the primary until just now: the address may lead to the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
  let everReady = false
  let away = false
  let slow = false
  let closing = false
  const goesAway = (reason: string): void => {
    if (away || closing) return
    away = true
    log.warn(everReady ? 'redis.lost' : 'redis.unreachable', {
      reason,
      hint: 'GATEWAY_LIMITER_REDIS_FALLBACK applies until it is back.',
    })
  }
  const onStall = (commands: number): void => {
    if (slow) return
    slow = true
    log.warn('redis.slow', {
      commands,
      timeout_ms: commandTimeoutMs,
      hint: 'GATEWAY_LIMITER_REDIS_FALLBACK applies to the requests that waited. Reported once until Redis reconnects.',
    })
  }
  watchAnswers({ redis, silenceMs: commandTimeoutMs, waitMs: MAX_WAITS * commandTimeoutMs, onStall })
  const comesBack = (): void => {
    everReady = true
    away = false
    log.info('redis.connected', {})
  }
  const breaker = storeBreaker({
    clock,
    onDown() {
      goesAway('3 errors in a row')
      // A half-dead connection is replaced. Commands that still wait in it fail.
      redis.disconnect(true)
    },
    onUp: comesBack,
  })
  redis.on('ready', () => {
    slow = false
    if (!breaker.down) comesBack()
  })
  redis.on('error', (error) => {
    if (!NO_DATABASE.test(error.message)) return goesAway(reasonOf(error))
    // The client would continue in database 0, among the keys of others.
    log.error(databaseRefused(redis))
    goesAway('no such database')
    redis.disconnect()
  })
  redis.on('close', () => goesAway('connection closed'))
  redis.connect().catch(() => {})
  if (redis.options.db) await databaseAnswer(redis)

  return {
    name: 'redis',
    prefix: `gw:${env}:`,
    redis,
    get usable() {
      return redis.status === 'ready' && !breaker.down
    },
    get everReady() {
      return everReady
    },
    attempt: (operation) => (redis.status === 'ready' ? breaker.attempt(() => operation(redis)) : null),
    async close() {
      closing = true
      if (redis.status === 'ready') await redis.quit().catch(() => {})
      redis.disconnect()
    },
  }
}

/** Waits until the server has confirmed the database. @throws Error when it does not have it. */
async function databaseAnswer(redis: Redis): Promise<void> {
  let refused = false
  await new Promise<void>((resolve) => {
    const timer = systemClock.timer(DATABASE_ANSWER_MS, resolve, true)
    const over = (): void => {
      timer.cancel()
      resolve()
    }
    redis.once('ready', () => redis.select(redis.options.db ?? 0).then(over, over))
    redis.on('error', (error) => {
      refused ||= NO_DATABASE.test(error.message)
      over()
    })
  })
  if (refused) throw new Error(databaseRefused(redis))
}

function databaseRefused({ options }: Redis): string {
  return `GATEWAY_REDIS_URL names database ${options.db}, which this Redis does not have. Redis numbers its databases from 0 to 15 unless configured otherwise.`
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}

async function loadClient(): Promise<typeof Redis> {
  try {
    return (await import('ioredis')).Redis
  } catch (error) {
    throw new Error('GATEWAY_REDIS_URL is set, but the package `ioredis` is missing: run `npm install ioredis`, or unset it.', {
      cause: error,
    })
  }
}

/** Returns only the code of an error: a server repeats the arguments of a refused command, and AUTH is one. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return code
  return /^(?:Ready check failed: )?([A-Z]{2,20})\b/.exec(String(message))?.[1] ?? 'connection failed'
}
