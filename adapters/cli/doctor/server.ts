// Checks the server that runs at the configured address.
import { VERSION } from '../../../core/version.ts'
import type { Surroundings } from '../place.ts'
import { answerOf, serverAddress } from '../server-address.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const PATIENCE_MS = 2000

export async function checkServer({ env }: Surroundings): Promise<Finding[]> {
  const base = serverAddress(env)
  if (base === null) return []
  const health = await answerOf(`${base}/healthz`, PATIENCE_MS)
  if (health === null) return [ok('server', `No server answers at ${base}.`)]
  const { version, status } = health.body as { version?: unknown; status?: unknown }
  if (typeof version !== 'string')
    return [fail('server', `Another program listens at ${base}.`, 'Set GATEWAY_PORT to a free port, or stop that program.')]
  const ready = await answerOf(`${base}/health/readiness`, PATIENCE_MS)
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
