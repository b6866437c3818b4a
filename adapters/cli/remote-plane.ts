// Calls the control plane of a running server, for `--url` and `--token`.
import { Readable } from 'node:stream'
import type { HostedGateway } from '../../core/gateway.ts'
import type { ControlPlane } from './control-plane.ts'
import { CommandFailure, failUsage } from './fail.ts'
import { secret } from './flag-values.ts'
import { refusal } from './refusal.ts'

/** Returns the plane of the server. A command that needs the database itself fails. @throws WrongUsage */
export async function remotePlane(url: string, token: string | undefined): Promise<ControlPlane> {
  const base = baseOf(url)
  const credential = token === undefined ? undefined : await secret('token', token)
  const send = async (method: string, path: string, body: unknown): Promise<Response> => {
    const response = await answered(base, credential, method, path, body)
    if (!response.ok) throw await refusal(response, method, path)
    return response
  }
  return {
    get gateway(): HostedGateway {
      throw new CommandFailure({
        what: 'This command works on the database, not on a server.',
        why: 'The control plane has no route for it.',
        fix: 'leave `--url` out and run it where the database is',
      })
    },
    call: async <T>(method: string, path: string, body?: unknown) => (await (await send(method, path, body)).json()) as T,
    download: (path) => send('GET', path, undefined),
  }
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    return failUsage(`\`--url\`: \`${text.slice(0, 60)}\` is not an address like http://127.0.0.1:8788.`)
  return url.href.replace(/\/$/, '')
}

async function answered(
  base: string,
  credential: string | undefined,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  const { request } = await import('undici')
  try {
    const answer = await request(base + path, {
      method: method as 'GET',
      headers: {
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const isEmpty = answer.statusCode === 204 || answer.statusCode === 304
    return new Response(isEmpty ? null : (Readable.toWeb(answer.body) as unknown as ReadableStream<Uint8Array>), {
      status: answer.statusCode,
    })
  } catch (error) {
    throw new CommandFailure({
      what: `The server ${base} does not answer.`,
      why: reasonOf(error as NodeJS.ErrnoException),
      fix: 'hookgate serve',
    })
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ECONNREFUSED' ? 'No process listens there.' : `${code ?? ''} ${message}`.trim()
}
