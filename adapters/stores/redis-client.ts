// The gateway's one Redis connection. It never delays the boot, queues no commands while Redis is unavailable, and a hanging server costs
// at most 50 ms a call until the breaker opens. The URL never appears in a log or an error.
import type { Redis } from 'ioredis'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock, Logger } from '../../core/types/ports.ts'
import { watchAnswers } from './answer-watch.ts'
import { storeBreaker } from './store-breaker.ts'

export interface RedisOptions {
  /** redis:// or rediss://, with credentials and database number as usual. */
  url: string
  /** Keys begin with `gw:<env>:`: gateways that share limits share it, others must not. */
  env: string
  clock: Clock
  log: Logger
  /** Longest silence while an answer is due, in ms; default 50. */
  commandTimeoutMs?: number
}

export interface RedisLink {
  /** `gw:<env>:` */
  readonly prefix: string
  readonly redis: Redis
  /** Ready, and not left alone by the breaker. */
  readonly usable: boolean
  /** Has been ready since boot. */
  readonly everReady: boolean
  /** Null when the store is away: then nothing was sent. Rejects when it failed, or when Redis does not answer in time. */
  attempt<T>(operation: (redis: Redis) => Promise<T>): Promise<T> | null
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 500
/** A crowd of commands waits for one another: one that is not the next in line may wait this many time limits. */
const MAX_WAITS = 5
const MAX_RECONNECT_MS = 2000
const DATABASE_ANSWER_MS = 300
const NO_DATABASE = /DB index/i

/**
 * Waits only where the URL names a database number, and then for at most 300 ms. An unreachable server is no error.
 * @throws Error when the URL is not one, when the server does not have that database, or when `ioredis` is not installed.
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
    // A replica that was the primary until a moment ago: the address may lead to the new one.
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
      // A half-dead connection is replaced, and with it goes whatever still waits in it for an answer.
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
    // The client would go on in database 0, among the keys of others.
    log.error(databaseRefused(redis))
    goesAway('no such database')
    redis.disconnect()
  })
  redis.on('close', () => goesAway('connection closed'))
  redis.connect().catch(() => {})
  if (redis.options.db) await databaseAnswer(redis)

  return {
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

/** Waits until the server has said whether it has the database. @throws Error when it does not. */
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

/** Only the code of an error: a server repeats the arguments of a command it refuses, and AUTH is one. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return code
  return /^(?:Ready check failed: )?([A-Z]{2,20})\b/.exec(String(message))?.[1] ?? 'connection failed'
}
