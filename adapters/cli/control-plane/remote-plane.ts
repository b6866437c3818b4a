// Calls the control plane of a running server, for `--url` and `--token`.
import type { HostedGateway } from '../../../core/gateway.ts'
import { createClient, type HookgateError } from '../../client/index.ts'
import { CommandFailure, failUsage } from '../fail.ts'
import { secret } from '../flag-values.ts'
import { type ControlPlane, callsOf } from './control-plane.ts'
import { refusal } from './refusal.ts'

/** Returns the plane of the server. A command that needs the database itself fails. @throws WrongUsage */
export async function remotePlane(url: string, token: string | undefined): Promise<ControlPlane> {
  const base = baseOf(url)
  const client = createClient({ baseURL: base, token: token === undefined ? undefined : await secret('token', token) })
  const failureOf = (error: HookgateError, method: string, path: string): Error =>
    error.status === 0 ? unanswered(base, error) : refusal(error, method, path)
  return {
    get gateway(): HostedGateway {
      throw new CommandFailure({
        what: 'This command works on the database, not on a server.',
        why: 'The control plane has no route for it.',
        fix: 'leave `--url` out and run it where the database is',
      })
    },
    ...callsOf(client, failureOf),
  }
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    return failUsage(`\`--url\`: \`${text.slice(0, 60)}\` is not an address like http://127.0.0.1:8788.`)
  return url.href.replace(/\/$/, '')
}

/** The network error is the cause of the error that the runtime's fetch throws. */
function unanswered(base: string, { cause }: HookgateError): CommandFailure {
  const thrown = cause as Error
  return new CommandFailure({
    what: `The server ${base} does not answer.`,
    why: reasonOf((thrown.cause ?? thrown) as NodeJS.ErrnoException),
    fix: 'hookgate serve',
  })
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ECONNREFUSED' ? 'No process listens there.' : `${code ?? ''} ${message}`.trim()
}
