// Keys that are known to be debounced, so that a storm of errors does not write. The database decides; this is what it said.
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'

const MAX_KEYS = 10_000
/** After statements were handed out: most transactions are through by then. */
const ASK_AFTER_MS = 250

export interface Debounced {
  has(key: string): boolean
  /** Asks the database, soon. */
  learn(key: string): void
}

export function debounced({ db, clock, log }: PluginGateway): Debounced {
  const untils = new Map<string, number>()
  const asked = new Set<string>()
  const ask = async (key: string): Promise<void> => {
    const row = await db.get<{ until: number }>(sql`SELECT until FROM webhooks_dedup WHERE key = ${key}`)
    if (row === undefined || row.until <= clock.now()) return
    if (untils.size >= MAX_KEYS) untils.clear()
    untils.set(key, row.until)
  }
  return {
    has(key) {
      const until = untils.get(key)
      if (until === undefined) return false
      if (until > clock.now()) return true
      untils.delete(key)
      return false
    },
    learn(key) {
      if (asked.has(key) || asked.size >= MAX_KEYS) return
      asked.add(key)
      const look = () =>
        void ask(key)
          .catch((error: unknown) => log.debug('webhooks.debounce_unread', { error: String(error) }))
          .finally(() => asked.delete(key))
      clock.timer(ASK_AFTER_MS, look, true)
    },
  }
}
