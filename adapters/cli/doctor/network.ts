// Checks who can reach the gateway, and which credentials they need.
import type { Surroundings } from '../place.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

export function checkNetwork({ env }: Surroundings): Finding[] {
  const host = env.get<string>('HOST')
  const port = env.get<number>('PORT')
  // With tenants every call needs a key, because it says whose call it is.
  const keysNeeded = env.get<boolean>('REQUIRE_API_KEY') || env.get<boolean>('MULTI_TENANT')
  const cloud = env.get<string>('PROFILE') === 'cloud'
  const password = env.get<string | null>('DASHBOARD_PASSWORD_HASH') !== null || env.get<boolean>('MULTI_TENANT')
  const findings: Finding[] = []
  const open = !isLoopback(host)
  if (!open && !cloud) findings.push(ok('network', `Listens on ${host}:${port}, for this machine only.`))
  else if (keysNeeded) findings.push(ok('network', `Listens on ${host}:${port}, and /v1 needs a client key.`))
  else
    findings.push(
      warn(
        'network',
        `Listens on ${host}:${port} beyond this machine, and clients that count as local need no key on /v1.`,
        'Set GATEWAY_REQUIRE_API_KEY=true, and make keys with `hookgate key create`.',
      ),
    )
  if (password) findings.push(ok('sign-in', 'The control plane asks for a password or a token.'))
  else if (cloud || open)
    findings.push(
      (cloud ? fail : warn)(
        'sign-in',
        'No password is set: local callers can use the control plane, others cannot.',
        'Set GATEWAY_DASHBOARD_PASSWORD_HASH (`hookgate password hash` makes one), or use `hookgate token create`.',
      ),
    )
  else findings.push(ok('sign-in', 'No password is set: the control plane is open to this machine.'))
  return findings
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || host.startsWith('127.')
}
