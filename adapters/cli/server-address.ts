// The address of the server that this configuration starts.
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
  try {
    const { request } = await import('undici/index.js')
    const { body } = await request(`${url}/healthz`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    return typeof ((await body.json()) as { version?: unknown }).version === 'string'
  } catch {
    return false
  }
}
