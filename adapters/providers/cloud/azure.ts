// Azure OpenAI: an API key, or an app registration of Entra ID whose token is kept and renewed. The version-1 API needs no `api-version`;
// with a header `api-version` of the connection the older addresses by deployment are used.
import { z } from 'zod'
import { renewedCredentials } from '../../../core/credentials.ts'
import type { OfferHost } from '../../../core/types/plugin/offer-host.ts'
import type { WireRequest } from '../../../core/types/ports/ports.ts'
import type { AuthorizedCall, Provider } from '../../../core/types/ports/provider.ts'
import { openaiCaps } from '../caps/openai.ts'
import { OPENAI_IDS } from '../id-limits.ts'
import { providerOf } from '../provider.ts'
import { isJson, parts, tokenFrom } from './credential.ts'

/** Client credentials of Entra ID (RFC 6749, section 4.4). */
const appRegistration = z.object({
  tenant_id: z.string().regex(/^[\w.-]{1,100}$/),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  /** Other clouds, such as `https://login.microsoftonline.us`. */
  authority: z.url().default('https://login.microsoftonline.com'),
  scope: z.string().default('https://cognitiveservices.azure.com/.default'),
})

const base = providerOf({
  id: 'azure',
  aliases: ['azure-openai'],
  baseUrl: null,
  auth: 'api-key',
  dialects: { chat: '', responses: '' },
  quirks: { idLimits: OPENAI_IDS },
  caps: openaiCaps,
})

export const azure: Provider = {
  ...base,
  authorize(wire, dialect, secret, call) {
    place(wire, call)
    return base.authorize(wire, dialect, secret, call)
  },
  hosted(host) {
    const tokens = entraTokens(host)
    return {
      authorize(wire, dialect, secret, call) {
        place(wire, call)
        if (!isJson(secret)) return base.authorize(wire, dialect, secret, call)
        const add = (token: string) => void wire.headers.push('authorization', `Bearer ${token}`)
        const token = tokens.of(secret)
        return typeof token === 'string' ? add(token) : token.then(add)
      },
      refused: (secret) => isJson(secret) && tokens.refused(secret),
    }
  },
}

function entraTokens(host: OfferHost) {
  const registrationOf = parts(appRegistration)
  return renewedCredentials({
    clock: host.clock,
    earlyMs: 5 * 60_000,
    load(secret) {
      const { authority, tenant_id, client_id, client_secret, scope } = registrationOf(secret)
      const form = { grant_type: 'client_credentials', client_id, client_secret, scope }
      return tokenFrom(host, `${authority.replace(/\/+$/, '')}/${tenant_id}/oauth2/v2.0/token`, form)
    },
  })
}

const OPERATION =
  /\/(?:chat\/completions|completions|embeddings|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations))$/

/** Turns the address of a bare resource, or of one with an `api-version`, into Azure's own. */
function place(wire: WireRequest, { target }: AuthorizedCall): void {
  const version = takeHeader(wire.headers, 'api-version')
  const url = new URL(wire.url)
  const path = url.pathname.replace(/^\/openai(?:\/v1)?(?=\/)/, '').replace(/^\/v1(?=\/)/, '')
  const ours = /\.(?:openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.(?:com|us|cn)$/.test(url.hostname)
  if (version === null) {
    // Any other address, such as a proxy, stays.
    if (ours && !/^\/openai\/(?:v1|deployments)\//.test(url.pathname)) wire.url = `${url.origin}/openai/v1${path}${url.search}`
    return
  }
  if (/\/deployments\//.test(url.pathname)) wire.url = `${url.origin}${url.pathname}`
  else if (OPERATION.test(path) && target !== null)
    wire.url = `${url.origin}/openai/deployments/${encodeURIComponent(target.model)}${path}`
  else wire.url = `${url.origin}/openai${path}`
  wire.url += `?api-version=${encodeURIComponent(version)}`
}

/** Removes the header and returns its value. */
function takeHeader(headers: string[], name: string): string | null {
  for (let i = 0; i < headers.length; i += 2)
    if ((headers[i] as string).toLowerCase() === name) return headers.splice(i, 2)[1] as string
  return null
}
