// Google Vertex AI: Gemini, Claude and the open models of a project. The key is a service account's JSON file, whose token is kept and
// renewed, or an access token. The dialect follows from the model's family.
import { z } from 'zod'
import { renewedCredentials } from '../../../core/credentials.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import { concatBytes } from '../../../core/text/bytes.ts'
import type { OfferHost } from '../../../core/types/plugin/offer-host.ts'
import type { WireRequest } from '../../../core/types/ports/ports.ts'
import type { AuthorizedCall, Provider } from '../../../core/types/ports/provider.ts'
import type { Awaitable, Dialect } from '../../../core/types/request/canonical.ts'
import type { ModelCaps } from '../../../core/types/request/dialect.ts'
import { familyCaps } from '../caps/family.ts'
import { geminiCaps } from '../caps/gemini.ts'
import { providerOf } from '../provider.ts'
import { isJson, parts, tokenFrom } from './credential.ts'

/** The JSON file of a service account, and where its models are. */
const serviceAccount = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  project_id: z
    .string()
    .regex(/^[\w.:-]{1,100}$/)
    .optional(),
  token_uri: z.url().default('https://oauth2.googleapis.com/token'),
  /** Location of the models. Google's file does not have this member. */
  location: z
    .string()
    .regex(/^[\w-]{1,60}$/)
    .optional(),
})
type ServiceAccount = z.output<typeof serviceAccount>

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** The version of Anthropic's API on Vertex. */
const ANTHROPIC_VERSION = 'vertex-2023-10-16'

const base = providerOf({
  id: 'vertex',
  baseUrl: 'https://aiplatform.googleapis.com/v1',
  dialects: { generate_content: '', messages: '', chat: '' },
  quirks: { noFunctionIds: true, imageUrl: 'inline', modelIsOneSegment: true },
  caps: capsOn,
})

export const vertex: Provider = {
  ...base,
  dialectFor: (_request, _caller, { family }) => dialectOf(family),
  authorize: byKey,
  hosted(host) {
    const accountOf = parts(serviceAccount)
    const tokens = accountTokens(host, accountOf)
    return {
      authorize(wire, dialect, secret, call) {
        if (!isJson(secret)) return byKey(wire, dialect, secret, call)
        place(wire, dialect, call, accountOf(secret))
        const add = (token: string) => void wire.headers.push('authorization', `Bearer ${token}`)
        const token = tokens.of(secret)
        return typeof token === 'string' ? add(token) : token.then(add)
      },
      refused: (secret) => isJson(secret) && tokens.refused(secret),
    }
  },
}

/** Ids with a publisher, such as `meta/llama-4`, are of other vendors than Google. */
function capsOn(model: string): ModelCaps {
  const known = familyCaps(model)
  if (known !== null) return known
  if (MISTRAL.test(model)) return { family: 'mistral' }
  return model.includes('/') ? { family: 'vertex' } : geminiCaps(model)
}

/** Publishers serve their models in one dialect each. */
function dialectOf(family: string): Dialect {
  if (family === 'claude') return 'messages'
  if (family === 'gemini') return 'generate_content'
  return 'chat'
}

/** An access token, or an API key of express mode. */
function byKey(wire: WireRequest, dialect: Dialect, secret: string | null, call: AuthorizedCall): Awaitable<void> {
  place(wire, dialect, call, null)
  if (secret?.startsWith('AIza')) wire.headers.push('x-goog-api-key', secret)
  else return base.authorize(wire, dialect, secret, call)
}

function accountTokens(host: OfferHost, accountOf: (secret: string) => ServiceAccount) {
  return renewedCredentials({
    clock: host.clock,
    earlyMs: 5 * 60_000,
    async load(secret) {
      const { client_email, private_key, private_key_id, token_uri } = accountOf(secret)
      const { importPKCS8, SignJWT } = await import('jose')
      const now = Math.floor(host.clock.now() / 1000)
      const assertion = await new SignJWT({ scope: SCOPE })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(private_key_id === undefined ? {} : { kid: private_key_id }) })
        .setIssuer(client_email)
        .setAudience(token_uri)
        .setIssuedAt(now)
        .setExpirationTime(now + 3600)
        .sign(await importPKCS8(private_key, 'RS256'))
      return tokenFrom(host, token_uri, { grant_type: GRANT, assertion })
    },
  })
}

const MISTRAL = /^(?:mistralai\/)?(?:mistral|ministral|codestral)-/
const MODELS = /^(.*?)(?:\/v1(?:beta\d*)?)?\/models\/([^/]+):(\w+)$/
const MESSAGES = /^(.*?)(?:\/v1)?\/messages(\/count_tokens)?$/
const CHAT = /^(.*?)\/chat\/completions$/

/** Gives a call the address of its project and publisher, and a body as Vertex wants it. */
function place(wire: WireRequest, dialect: Dialect, { target }: AuthorizedCall, account: ServiceAccount | null): void {
  const url = new URL(wire.url)
  const { pathname, search } = url
  const at = (path: string) => `https://${hostOf(url, account)}${path}`.replace(/^https:/, url.protocol)
  const models = MODELS.exec(pathname)
  if (models !== null) {
    const [, prefix = '', model = '', method = ''] = models
    wire.url = at(`${publishers(prefix, account)}/publishers/google/models/${model.replace(/^google%2F/, '')}:${method}${search}`)
    return
  }
  const messages = MESSAGES.exec(pathname)
  if (dialect === 'messages' && messages !== null && target !== null) {
    const counts = messages[2] !== undefined
    const method = wire.stream ? 'streamRawPredict' : 'rawPredict'
    const model = counts ? 'count-tokens' : encodeURIComponent(bare(target.model))
    wire.url = at(
      `${publishers(messages[1] ?? '', account)}/publishers/anthropic/models/${model}:${counts ? 'rawPredict' : method}`,
    )
    asAnthropic(wire, counts)
    return
  }
  const chat = CHAT.exec(pathname)
  if (dialect !== 'chat' || chat === null || /\/endpoints\//.test(pathname) || target === null) return
  const prefix = publishers(chat[1] ?? '', account)
  const method = wire.stream ? 'streamRawPredict' : 'rawPredict'
  wire.url = MISTRAL.test(target.model)
    ? at(`${prefix}/publishers/mistralai/models/${encodeURIComponent(target.model.replace(/^mistralai\//, ''))}:${method}`)
    : at(`${prefix}/endpoints/openapi/chat/completions`)
}

/** A region has a host of its own. */
function hostOf({ host, hostname }: URL, account: ServiceAccount | null): string {
  const location = account?.location ?? 'global'
  return hostname === 'aiplatform.googleapis.com' && location !== 'global' ? `${location}-${host}` : host
}

/** Returns the path of the project and location. */
function publishers(prefix: string, account: ServiceAccount | null): string {
  const clean = prefix.replace(/\/publishers\/[^/]+$/, '')
  const project = account?.project_id
  if (project === undefined || /\/projects\//.test(clean)) return clean
  const version = /\/v\d\w*$/.test(clean) ? clean : `${clean}/v1`
  return `${version}/projects/${project}/locations/${account?.location ?? 'global'}`
}

function bare(model: string): string {
  return model.replace(/^anthropic\//, '')
}

/** The model is in the address, and the version in the body. */
function asAnthropic(wire: WireRequest, counts: boolean): void {
  if (wire.body === null) return
  const body = wireBody(concatBytes(wire.body))
  if (counts) body.set('model', bare(String(body.get('model') ?? '')))
  else body.remove('model')
  body.set('anthropic_version', ANTHROPIC_VERSION)
  wire.body = body.toBytes()
  // The header of Anthropic's own API.
  for (let i = wire.headers.length - 2; i >= 0; i -= 2)
    if (wire.headers[i]?.toLowerCase() === 'anthropic-version') wire.headers.splice(i, 2)
}
