// What a budget keeps back while an upstream does not answer, and what it was sent.
import { hang } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { type Site, site, turns } from './support.ts'

/** The context window of every model. */
export const WINDOW = 200_000

const windows = definePlugin({
  name: 'test-windows',
  requires: ['modelFacts'],
  setup: (gateway) => gateway.use('modelFacts').layer(() => ({ contextWindow: WINDOW })),
})

/** Returns a gateway before a silent upstream, with one large budget. */
export async function waiting(): Promise<{ s: Site; account: string }> {
  const s = await site({ upstream: [hang()], plugins: [windows()] })
  const account = `budget:${(await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: 1_000_000 })).id}`
  return { s, account }
}

export interface Made {
  path: string
  body: Record<string, unknown>
}

/** Returns null when it was refused and nothing was sent. */
export async function observed(
  s: Site,
  account: string,
  { path, body }: Made,
): Promise<{ reserved: number; sent: Record<string, unknown> } | null> {
  const before = s.t.upstream.requests.length
  const settled = s.t.settled.length
  const leaving = new AbortController()
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  let over = false
  const asked = s.t.fetch(path, { ...init, signal: leaving.signal }).finally(() => {
    over = true
  })
  asked.catch(() => {})
  while (s.t.upstream.requests.length === before && !over) await new Promise((resolve) => setImmediate(resolve))
  const sent = s.t.upstream.requests[before]?.json
  const { reserved } = await s.balance(account)
  leaving.abort()
  await asked.catch(() => {})
  await s.t.untilSettled(settled + 1)
  await turns(10)
  return sent === undefined ? null : { reserved, sent }
}
