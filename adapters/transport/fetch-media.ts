// Fetches media that a target cannot fetch itself: through the outbound guard, at most 20 MB, 10 s and 3 redirects.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type GuardOptions, guardedAgent } from './outbound-guard.ts'
import { checkOutboundUrl } from './outbound-url.ts'

const MAX_BYTES = 20 * 1024 * 1024
const MAX_REDIRECTS = 3
const TIMEOUT_MS = 10_000

export type MediaFetcher = (url: string, signal: AbortSignal) => Promise<{ mime: string; data: string }>

/** Every failure is a 400 for the caller: the address in the request cannot be fetched. */
export function mediaFetcher(options: GuardOptions = {}): MediaFetcher {
  const dispatcher = guardedAgent(options)
  return async (first, signal) => {
    let url = checkOutboundUrl(first, 'url')
    const { request } = await import('undici/index.js')
    for (let codec = 0; codec <= MAX_REDIRECTS; codec++) {
      const answer = await request(url, {
        dispatcher,
        headers: { accept: 'image/*, application/pdf, audio/*, video/*', 'accept-encoding': 'identity' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      }).catch((error: unknown) => {
        throw GatewayError.is(error) ? error : unavailable()
      })
      const { location } = answer.headers
      if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
        await answer.body.dump()
        if (!URL.canParse(location, url)) throw unavailable()
        url = checkOutboundUrl(new URL(location, url).href, 'url')
        continue
      }
      if (answer.statusCode !== 200) {
        await answer.body.dump()
        throw unavailable()
      }
      const mime = String(answer.headers['content-type'] ?? 'application/octet-stream')
        .split(';', 1)[0]
        ?.trim() as string
      return { mime, data: (await read(answer.body)).toString('base64') }
    }
    throw unavailable()
  }
}

async function read(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_BYTES) throw GatewayError.invalid('messages', 'A media URL leads to more than 20 MB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function unavailable(): GatewayError {
  return GatewayError.invalid(
    'messages',
    'A media URL could not be fetched for a model that takes media inline only. Send the data itself.',
  )
}
