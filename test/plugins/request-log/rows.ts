// Log rows without requests: entries as the hook creates them.
import type { Database } from '../../../core/types/ports/db.ts'
import type { Entry } from '../../../plugins/request-log/entry.ts'
import { logWriter } from '../../../plugins/request-log/queue.ts'

export interface EntryOptions extends Partial<Omit<Entry, 'outcome'>> {
  status?: number
  error?: { code: string; message: string }
  latencyMs?: number
  costNano?: number | null
  cached?: 'exact' | 'semantic' | false
}

export const AT = Date.UTC(2026, 0, 10)

export function idOf(n: number): string {
  const hex = n.toString(16).padStart(12, '0')
  return `req_${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

export function entry(n: number, options: EntryOptions = {}): Entry {
  const { status = 200, error, latencyMs = 10, costNano = null, cached = false, ...more } = options
  const usage = { inputTotal: 3, cacheRead: 0, cacheWrite: 0, outputTotal: 2, total: 5, estimated: false, raw: null }
  const thrown = error && Object.assign(new Error(error.message), { code: error.code, status, upstream: null })
  return {
    requestId: idOf(n),
    orgId: null,
    at: AT + n,
    source: 'api',
    endpoint: '/v1/chat/completions',
    wireFormat: 'chat',
    keyId: null,
    keyLabel: null,
    userId: null,
    sessionId: null,
    costCenter: null,
    provider: 'openai',
    connectionId: '1',
    model: 'm',
    requestedModel: 'openai/m',
    virtualModel: null,
    stream: false,
    attempts: [],
    properties: null,
    notes: null,
    freePool: false,
    requestBytes: 10,
    ...more,
    outcome: {
      status,
      aborted: false,
      cached,
      usage,
      steps: [],
      costNano,
      chargeNano: costNano,
      latencyMs,
      firstByteMs: null,
      ...(thrown ? { error: thrown as never } : {}),
    },
  }
}

export function write(db: Database, entries: readonly Entry[]): Promise<void> {
  return logWriter(db)(entries)
}
