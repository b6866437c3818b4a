// A vendor's OAuth server over real HTTP: PKCE (RFC 7636), device codes (RFC 8628), refresh with rotation, revocation (RFC 7009).
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeOAuthCall {
  readonly path: string
  readonly form: Readonly<Record<string, string>>
  readonly authorization: string | undefined
}

export interface FakeOAuth {
  readonly url: string
  readonly calls: FakeOAuthCall[]
  /** Every secret that the server gave out. */
  readonly secrets: Set<string>
  /** Lifetime of access tokens, seconds; null: none is named. */
  expiresIn: number | null
  rotates: boolean
  /** The person that the next sign-in belongs to. */
  person: Record<string, string> | null
  /** Answers the next call to the token endpoint instead. */
  next: { status: number; body: unknown }[]
  /** Answers the next call to the device endpoint instead. */
  nextDevice: { status: number; body: unknown }[]
  /** Device codes that a person has confirmed. */
  confirmed: boolean
  /** Milliseconds that each token answer takes. */
  delayMs: number
  /** Returns the code that the browser would bring back. */
  authorize(authorizeUrl: string): { code: string; state: string; redirectUri: string }
  isValid(accessToken: string): boolean
  /** Rotates and ends the connection instead of an answer. */
  cut: boolean
  /** Forgets the newest refresh token. The one before works, because its successor was never used. */
  forgetNewest(): void
  /** Refuses every refresh token from now on. */
  forgetAll(): void
  close(): Promise<void>
}

export async function fakeOAuth(client: { id: string; secret?: string } = { id: 'client-1' }): Promise<FakeOAuth> {
  let count = 0
  const codes = new Map<string, { challenge: string; redirectUri: string }>()
  const refreshTokens = new Map<string, { replaces: string | null }>()
  const accessTokens = new Set<string>()
  const deviceCodes = new Set<string>()
  const secrets = new Set<string>()
  const minted = (kind: string): string => {
    const value = `${kind}-canary-${++count}-${'x'.repeat(24)}`
    secrets.add(value)
    return value
  }
  const fake = {
    calls: [] as FakeOAuthCall[],
    secrets,
    expiresIn: 3600 as number | null,
    rotates: true,
    person: { sub: 'person-1', email: 'ada@example.test', name: 'Ada' } as Record<string, string> | null,
    next: [] as FakeOAuth['next'],
    nextDevice: [] as FakeOAuth['nextDevice'],
    confirmed: false,
    delayMs: 0,
    cut: false,
  }

  const tokens = (replaces: string | null, used: string | null) => {
    const access = minted('access')
    accessTokens.add(access)
    const rotated = used === null || fake.rotates
    const refresh = rotated ? minted('refresh') : used
    if (rotated) refreshTokens.set(refresh, { replaces })
    return {
      access_token: access,
      token_type: 'Bearer',
      ...(fake.expiresIn === null ? {} : { expires_in: fake.expiresIn }),
      ...(rotated ? { refresh_token: refresh } : {}),
      ...(fake.person === null ? {} : { id_token: `e30.${Buffer.from(JSON.stringify(fake.person)).toString('base64url')}.x` }),
    }
  }
  const error = (code: string, status = 400) => ({ status, body: { error: code, error_description: 'Said by the vendor.' } })

  function token({ form, authorization }: FakeOAuthCall): { status: number; body: unknown } {
    const basic = authorization?.startsWith('Basic ') ? Buffer.from(authorization.slice(6), 'base64').toString() : null
    const [id, secret] = basic === null ? [form.client_id, form.client_secret] : basic.split(':').map(unformed)
    if (id !== client.id || secret !== client.secret) return error('invalid_client', 401)
    switch (form.grant_type) {
      case 'authorization_code': {
        const code = codes.get(form.code ?? '')
        codes.delete(form.code ?? '')
        if (code === undefined || code.redirectUri !== form.redirect_uri) return error('invalid_grant')
        const challenge = createHash('sha256')
          .update(form.code_verifier ?? '')
          .digest('base64url')
        return challenge === code.challenge ? { status: 200, body: tokens(null, null) } : error('invalid_grant')
      }
      case 'refresh_token': {
        const used = form.refresh_token as string
        const known = refreshTokens.get(used)
        if (known === undefined) return error('invalid_grant')
        // The use of a token ends the one that it replaced.
        if (known.replaces !== null) refreshTokens.delete(known.replaces)
        return { status: 200, body: tokens(used, used) }
      }
      case 'urn:ietf:params:oauth:grant-type:device_code':
        if (!deviceCodes.has(form.device_code ?? '')) return error('expired_token')
        if (!fake.confirmed) return error('authorization_pending')
        deviceCodes.delete(form.device_code ?? '')
        return { status: 200, body: tokens(null, null) }
      default:
        return error('unsupported_grant_type')
    }
  }

  const server = createServer(async (request, response) => {
    const call = await read(request)
    fake.calls.push(call)
    if (fake.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, fake.delayMs))
    const answer = answerTo(call)
    if (fake.cut) return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })

  function answerTo(call: FakeOAuthCall): { status: number; body: unknown } {
    if (call.path === '/token') return fake.next.shift() ?? token(call)
    if (call.path === '/revoke') {
      refreshTokens.delete(call.form.token ?? '')
      return { status: 200, body: {} }
    }
    if (call.path !== '/device') return { status: 404, body: {} }
    const instead = fake.nextDevice.shift()
    if (instead !== undefined) return instead
    const device = minted('device')
    deviceCodes.add(device)
    const uri = 'https://vendor.test/device'
    return {
      status: 200,
      body: { device_code: device, user_code: 'WDJB-MJHT', verification_uri: uri, expires_in: 900, interval: 5 },
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(fake, {
    url,
    authorize(authorizeUrl: string) {
      const query = new URL(authorizeUrl).searchParams
      const code = minted('code')
      const redirectUri = query.get('redirect_uri') as string
      codes.set(code, { challenge: query.get('code_challenge') as string, redirectUri })
      return { code, state: query.get('state') as string, redirectUri }
    },
    isValid: (accessToken: string) => accessTokens.has(accessToken),
    forgetNewest: () => void refreshTokens.delete([...refreshTokens.keys()].at(-1) as string),
    forgetAll: () => refreshTokens.clear(),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

async function read(request: IncomingMessage): Promise<FakeOAuthCall> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
  return { path: request.url ?? '/', form, authorization: request.headers.authorization }
}

function unformed(text: string): string {
  return new URLSearchParams(`x=${text}`).get('x') as string
}
