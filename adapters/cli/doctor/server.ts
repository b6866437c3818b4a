// Checks the server that runs at the configured address.
import { request } from 'undici/index.js'
import { VERSION } from '../../../core/version.ts'
import type { Surroundings } from '../place.ts'
import { serverAddress } from '../server-address.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const PATIENCE_MS = 2000

export async function checkServer({ env }: Surroundings): Promise<Finding[]> {
  const base = serverAddress(env)
  if (base === null) return []
  const health = await answerOf(`${base}/healthz`)
  if (health === null) return [ok('server', `No server answers at ${base}.`)]
  const { version, status } = health.body as { version?: unknown; status?: unknown }
  if (typeof version !== 'string')
    return [fail('server', `Another program listens at ${base}.`, 'Set GATEWAY_PORT to a free port, or stop that program.')]
  const ready = await answerOf(`${base}/health/readiness`)
  if (ready?.status !== 200)
    return [
      fail(
        'server',
        `The server at ${base} is not ready: ${String((ready?.body as { status?: unknown } | undefined)?.status ?? 'no answer')}.`,
        'Look at its log; it takes requests again when the database answers.',
      ),
    ]
  const findings = [
    status === 'degraded'
      ? warn('server', `The server at ${base} is degraded.`, `\`curl ${base}/healthz\` says what it misses.`)
      : ok('server', `A server of version ${version} is ready at ${base}.`),
  ]
  if (version !== VERSION)
    findings.push(
      warn(
        'server',
        `It runs version ${version}, and this command is of version ${VERSION}.`,
        'Restart it, or use the same version.',
      ),
    )
  return findings
}

/** Returns null when no answer came in time. A body that is not JSON counts as an empty object. */
async function answerOf(url: string): Promise<{ status: number; body: object } | null> {
  try {
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const text = await body.text()
    return { status: statusCode, body: objectOf(text) }
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
