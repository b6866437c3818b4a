// The address of the server that this configuration starts, and what answers there.
import type { Env } from '../../core/config/env.ts'

const PATIENCE_MS = 1000
const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '[::]'])

/** Returns null where the system chooses the port. */
export function serverAddress(env: Pick<Env, 'get'>): string | null {
  const given = env.get<string>('HOST')
  const host = EVERY_ADDRESS.has(given) ? '127.0.0.1' : given
  const port = env.get<number>('PORT')
  return port === 0 ? null : `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
}

/** True: a gateway answers there. */
export async function isServed(url: string): Promise<boolean> {
  const health = await answerOf(`${url}/healthz`, PATIENCE_MS)
  return typeof (health?.body as { version?: unknown } | undefined)?.version === 'string'
}

/** Returns null when no answer came in time. A body that is not JSON counts as an empty object. */
export async function answerOf(url: string, patienceMs: number): Promise<{ status: number; body: object } | null> {
  try {
    const { request } = await import('undici/index.js')
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(patienceMs) })
    return { status: statusCode, body: objectOf(await body.text()) }
  } catch {
    return null
  }
}

function objectOf(text: string): object {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : {}
  } catch {
    return {}
  }
}
