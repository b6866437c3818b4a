// Shares vectors through Redis: one stream per scope. Every replica reads the new entries of the stream into an index in its memory. A
// look-up costs one short command; the comparison runs here. While Redis is unavailable each replica uses its own index.
import type { Clock, VectorEntry, VectorStore } from '../../core/types/ports/ports.ts'
import { MAX_ENTRIES, memoryVectors } from '../../core/vectors/memory.ts'
import type { RedisLink } from './redis-client.ts'

/** Entries per read: about half a megabyte, which fits the link's time limit. */
const PAGE = 64
/** Limit of remembered stream positions. Without its position a stream is read again from the start. */
const MAX_CURSORS = 10_000
/** A stream lives as long as its longest entry: a short-lived entry must not expire the others. */
const EXTEND = `local left = redis.call('PTTL', KEYS[1])
if left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end`

export function redisVectors({ link, clock }: { link: RedisLink; clock: Clock }): VectorStore {
  const local = memoryVectors({ clock })
  /** Id of the last entry that was read. */
  const cursors = new Map<string, string>()
  const keyOf = (scope: string): string => `${link.prefix}vec:${scope}`

  async function readOn(scope: string): Promise<void> {
    // A scope that was evicted from memory is read again from its start.
    let from = local.has(scope) ? cursors.get(scope) : undefined
    for (;;) {
      const start = from === undefined ? '-' : `(${from}`
      const page = await link.attempt((redis) => redis.xrange(keyOf(scope), start, '+', 'COUNT', PAGE))
      if (page === null) return
      for (const [id, fields] of page) {
        from = id
        const entry = entryOf(fields)
        if (entry !== null && entry.expiresAt > clock.now()) local.put(scope, entry)
      }
      if (from !== undefined) remember(scope, from)
      if (page.length < PAGE) return
    }
  }

  function remember(scope: string, id: string): void {
    cursors.delete(scope)
    cursors.set(scope, id)
    if (cursors.size > MAX_CURSORS) cursors.delete(cursors.keys().next().value as string)
  }

  return {
    async add(scope, entry) {
      const { id, vector, value, expiresAt } = entry
      const key = keyOf(scope)
      const written = link.attempt((redis) =>
        redis
          .multi()
          .xadd(key, 'MAXLEN', MAX_ENTRIES, '*', 'i', id, 'v', bytesOf(vector), 'a', value, 'x', String(expiresAt))
          .eval(EXTEND, 1, key, Math.max(1, expiresAt - clock.now()))
          .exec(),
      )
      if ((await written?.catch(() => null)) == null) local.put(scope, entry)
    },
    async nearest(scope, vector) {
      await readOn(scope).catch(() => {})
      return local.find(scope, vector)
    },
    // Redis expires its own entries.
    sweep: () => local.sweep(),
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function entryOf(fields: readonly string[]): VectorEntry | null {
  const of = (name: string): string => {
    const at = fields.findIndex((field, index) => index % 2 === 0 && field === name)
    return at === -1 ? '' : (fields[at + 1] as string)
  }
  // A copy, because four-byte numbers need an aligned address.
  const bytes = new Uint8Array(Buffer.from(of('v'), 'base64'))
  const expiresAt = Number(of('x'))
  if (of('i') === '' || bytes.length === 0 || bytes.length % 4 !== 0 || !Number.isFinite(expiresAt)) return null
  return { id: of('i'), vector: new Float32Array(bytes.buffer), value: of('a'), expiresAt }
}
