// An identity provider over real HTTP that a test can make lie.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { listening } from '../../../adapters/testing/network-faults.ts'

export const CLIENT = { id: 'gateway-client', secret: 's3cret/+ of & client' }

export interface SigningKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicJwk: object
}

export async function signingKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly form: URLSearchParams
}

export interface FakeIssuer {
  readonly url: string
  readonly asked: Asked[]
  /** Claims of the person who signs in; undefined removes one. */
  person: Record<string, unknown>
  /** Claims that replace the right ones of the ID token. */
  lies: (claims: JWTPayload) => JWTPayload
  sign: (claims: JWTPayload) => Promise<string>
  signs: SigningKey
  publishes: SigningKey[]
  info: Record<string, unknown>
  discovery: Record<string, unknown>
  /** Answers a path itself; true: answered. */
  intercept: (path: string, response: ServerResponse) => boolean
  /** Epoch ms. */
  now: () => number
  close(): Promise<void>
}

/** Codes are `<nonce>.<challenge>`, so that the fake needs no memory of its sign-ins. */
export function codeFor(location: string): string {
  const { searchParams } = new URL(location)
  return `${searchParams.get('nonce')}.${searchParams.get('code_challenge')}`
}

export async function fakeIssuer(key: SigningKey): Promise<FakeIssuer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void answer(request, Buffer.concat(chunks).toString(), response))
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  const json = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

  async function answer(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] as string
    const form = new URLSearchParams(body)
    issuer.asked.push({ path, headers: request.headers, form })
    if (issuer.intercept(path, response)) return
    if (path === '/.well-known/openid-configuration')
      return json(response, 200, {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        userinfo_endpoint: `${url}/userinfo`,
        ...issuer.discovery,
      })
    if (path === '/keys') return json(response, 200, { keys: issuer.publishes.map(({ publicJwk }) => publicJwk) })
    if (path === '/userinfo') return json(response, 200, { sub: issuer.person.sub, ...issuer.info })
    if (path !== '/token') return json(response, 404, {})
    const basic = `Basic ${btoa(`${CLIENT.id}:${encodeForm(CLIENT.secret)}`)}`
    if (request.headers.authorization !== basic && form.get('client_secret') !== CLIENT.secret)
      return json(response, 401, { error: 'invalid_client' })
    const [nonce, challenge] = (form.get('code') ?? '').split('.')
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(form.get('code_verifier') ?? ''))
    if (challenge !== Buffer.from(digest).toString('base64url')) return json(response, 400, { error: 'invalid_grant' })
    const now = Math.floor(issuer.now() / 1000)
    const claims = { iss: url, aud: CLIENT.id, iat: now, exp: now + 300, nonce, ...issuer.person }
    json(response, 200, { access_token: 'at', token_type: 'Bearer', id_token: await issuer.sign(issuer.lies(claims)) })
  }

  const issuer: FakeIssuer = {
    url,
    asked: [],
    person: { sub: 'u1', email: 'Ada@Example.com', email_verified: true, name: 'Ada' },
    lies: (claims) => claims,
    sign: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: issuer.signs.alg, kid: issuer.signs.kid }).sign(issuer.signs.privateKey),
    signs: key,
    publishes: [key],
    info: {},
    discovery: {},
    intercept: () => false,
    now: () => Date.now(),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return issuer
}

function encodeForm(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2)
}
