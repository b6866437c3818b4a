// Sends the first real request through the gateway, as a client would, and reads its cost from the log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { LogRow } from '../logs/row.ts'

export interface FirstRequest {
  readonly status: number
  readonly model: string
  /** The text of the answer, or the message of the refusal. */
  readonly answer: string
  readonly request_id: string | null
  readonly tokens: { readonly prompt: number; readonly completion: number } | null
  /** null: the model has no known price, or the log is off. */
  readonly cost_usd: number | null
}

const MOST_LOOKS = 20

export async function firstRequest(plane: ControlPlane, model: string, key: string | null): Promise<FirstRequest> {
  const { gateway } = plane
  const response = await gateway.fetch(
    new Request('http://cli.local/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, max_tokens: 32, messages: [{ role: 'user', content: 'Say hello.' }] }),
    }),
    { address: '127.0.0.1', local: true, secure: true },
  )
  const body = (await response.json().catch(() => ({}))) as {
    choices?: { message?: { content?: unknown } }[]
    error?: { message?: unknown }
  }
  const answer = String((response.ok ? body.choices?.[0]?.message?.content : body.error?.message) ?? '')
  const request_id = response.headers.get('x-gateway-request-id')
  await gateway.committed()
  const row = request_id === null || !response.ok ? null : await logged(plane, request_id)
  return { status: response.status, model, answer, request_id, tokens: row?.tokens ?? null, cost_usd: row?.cost_usd ?? null }
}

/** The log is written shortly after the answer. Returns null when it does not come, for example because the log is off. */
async function logged({ call }: ControlPlane, id: string): Promise<LogRow | null> {
  for (let look = 0; look < MOST_LOOKS; look++) {
    const row = await call<LogRow>('GET', `/api/logs/${id}`).catch(() => null)
    if (row !== null) return row
    await sleep(50)
  }
  return null
}
