// The gateway's one Redis connection. It never delays the boot, queues nothing while it is away, and a server that
// hangs costs at most 50 ms a call until the breaker stops asking. Nothing of the URL reaches a log or an error.
import type { Redis } from 'ioredis'
import type { Clock, Logger } from '../../core/types/ports.ts'
import { storeBreaker } from './store-breaker.ts'

export interface RedisOptions {
  /** redis:// or rediss://, with credentials and database number as usual. */
  url: string
  /** Keys begin with `gw:<env>:`: gateways that share limits share it, others must not. */
  env: string
  clock: Clock
  log: Logger
  /** Longest wait for an answer; default 50. */
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
  /** Null when the store is away: then nothing was sent. Rejects when it failed, after `commandTimeoutMs` at most. */
  attempt<T>(operation: (redis: Redis) => Promise<T>): Promise<T> | null
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 500
const MAX_RECONNECT_MS = 2000

/** @throws Error when the URL is none, or the package `ioredis` is not installed. An unreachable server is no error. */
export async function openRedis({ url, env, clock, log, commandTimeoutMs = 50 }: RedisOptions): Promise<RedisLink> {
  if (!/^rediss?:$/.test(protocolOf(url))) throw new Error('GATEWAY_REDIS_URL must be a redis:// or rediss:// URL.')
  const redis = new (await loadClient())(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
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
  let closing = false
  const goesAway = (reason: string): void => {
    if (away || closing) return
    away = true
    log.warn(`Redis ${everReady ? 'was lost' : 'cannot be reached'}; GATEWAY_LIMITER_REDIS_FALLBACK holds until it is back.`, {
      reason,
    })
  }
  const comesBack = (): void => {
    everReady = true
    away = false
    log.info('Redis is connected.')
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
    if (!breaker.down) comesBack()
  })
  redis.on('error', (error) => goesAway(reasonOf(error)))
  redis.on('close', () => goesAway('connection closed'))
  redis.connect().catch(() => {})

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
