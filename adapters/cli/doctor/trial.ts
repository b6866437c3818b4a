// Asks each connection with one small request, as `hookgate provider test` does, and compares the clock with the answers.
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Verdict } from '../resources/provider.ts'
import { watchClocks } from './clock.ts'
import { type Finding, fail, ok, reasonOf } from './finding.ts'

interface Listed {
  readonly id: number
  readonly provider: string
  readonly label: string
  readonly enabled: boolean
}

export async function tryConnections({ call }: ControlPlane): Promise<Finding[]> {
  const { data } = await call<{ data: Listed[] }>('GET', '/api/providers')
  const clocks = watchClocks()
  const tests = await Promise.all(data.filter(({ enabled }) => enabled).map((connection) => tried(call, connection)))
  return [...clocks.finding(), ...tests]
}

async function tried(call: ControlPlane['call'], { id, provider, label }: Listed): Promise<Finding> {
  const name = `${provider}/${label}`
  const again = `\`hookgate provider test ${id}\`.`
  try {
    const { error, latency_ms, model } = await call<Verdict>('POST', `/api/providers/${id}/test`, {})
    if (error === null) return ok('test', `${name} answers (${model}, ${latency_ms} ms).`)
    return fail('test', `${name}: ${error.message} (${error.kind}, ${latency_ms} ms)`, `${error.hint} Then run ${again}`)
  } catch (error) {
    return fail('test', `${name}: ${reasonOf(error)}`, `Give it a \`default_model\`, then run ${again}`)
  }
}
