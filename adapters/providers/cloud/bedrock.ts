// Amazon Bedrock: the Converse API for every model, or the OpenAI-compatible one where the base URL ends in `/openai/v1`. The key is a
// Bedrock API key, or JSON text with AWS credentials, with which each attempt is signed.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { OfferHost } from '../../../core/types/plugin/offer-host.ts'
import type { WireRequest } from '../../../core/types/ports/ports.ts'
import type { Provider } from '../../../core/types/ports/provider.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { providerOf } from '../provider.ts'
import { isJson, parts } from './credential.ts'
import { signed } from './sigv4.ts'

const awsCredentials = z.object({
  access_key_id: z.string().min(1),
  secret_access_key: z.string().min(1),
  session_token: z.string().min(1).optional(),
  /** Default: the region in the base URL. */
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .optional(),
})

/** Only upstreams speak it. */
const CONVERSE = 'converse' as Dialect

const base = providerOf({ id: 'bedrock', baseUrl: null, dialects: { [CONVERSE]: '' }, quirks: { imageUrl: 'inline' } })

export const bedrock: Provider = {
  ...base,
  dialectFor: (_request, _caller, _caps, { baseUrl }) => (/\/openai\/v1\/?$/.test(baseUrl ?? '') ? 'chat' : CONVERSE),
  hosted({ clock }: OfferHost) {
    const credentialsOf = parts(awsCredentials)
    return {
      authorize(wire, dialect, secret, call) {
        if (!isJson(secret)) return base.authorize(wire, dialect, secret, call)
        const { access_key_id, secret_access_key, session_token, region = regionIn(wire) } = credentialsOf(secret)
        const keys = { accessKeyId: access_key_id, secretAccessKey: secret_access_key, sessionToken: session_token }
        return signed(wire, { keys, service: 'bedrock', region, now: clock.now() })
      },
    }
  },
}

const REGION = /^bedrock(?:-[a-z]+)*\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$|\.([a-z]{2}(?:-[a-z]+)+-\d)\./

/** @throws GatewayError: the next connection is tried. */
function regionIn({ url }: WireRequest): string {
  const found = REGION.exec(new URL(url).hostname)
  const region = found?.[1] ?? found?.[2]
  if (region !== undefined) return region
  throw new GatewayError('The base URL of this connection names no AWS region. Give `region` in its key.', {
    status: 502,
    type: 'api_error',
    code: 'credential_malformed',
    upstream: { kind: 'status', status: 401 },
  })
}
