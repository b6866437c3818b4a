// fetch() that checks the URL and every redirect, for runtimes without sockets of their own. The addresses of names are not checked: use it
// where the platform itself reaches the public internet only, as Workers do.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { concatBytes } from '../../core/text/bytes.ts'
import type { OutboundPost } from '../../core/types/ports/ports.ts'
import { checkOutboundUrl } from './outbound-url.ts'

type Fetch = typeof globalThis.fetch

const MAX_REDIRECTS = 3
const MAX_MEDIA_BYTES = 20 * 1024 * 1024
const MEDIA_TIMEOUT_MS = 10_000

/** Calls reject with a GatewayError 400 for a URL that does not lead to a public address. Only a GET follows redirects. */
export function checkedFetch(send: Fetch): Fetch {
  return async (input, init) => {
    let url = checkOutboundUrl(input instanceof Request ? input.url : String(input), 'url')
    const follows = (init?.method ?? 'GET').toUpperCase() === 'GET' && (init?.redirect ?? 'follow') === 'follow'
    for (let hops = 0; ; hops++) {
      const answer = await send(url.href, { ...init, redirect: 'manual' })
      const location = answer.headers.get('location')
      if (!follows || answer.status < 300 || answer.status >= 400 || location === null) return answer
      await answer.body?.cancel()
      if (hops === MAX_REDIRECTS || !URL.canParse(location, url))
        throw GatewayError.network('connect', 'The address redirects too often, or to an invalid address.')
      url = checkOutboundUrl(new URL(location, url).href, 'url')
    }
  }
}

export function checkedPost(send: Fetch): OutboundPost {
  return async ({ url, headers, body, signal, inward = false }) => {
    const to = inward ? new URL(url) : checkOutboundUrl(url, 'url')
    const answer = await send(to.href, { method: 'POST', headers, body, signal, redirect: 'manual' })
    await answer.body?.cancel()
    return { status: answer.status }
  }
}

/** Every failure is a 400 for the caller: the address in the request cannot be fetched. */
export function checkedMedia(send: Fetch): (url: string, signal: AbortSignal) => Promise<{ mime: string; data: string }> {
  const fetched = checkedFetch(send)
  return async (url, signal) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(MEDIA_TIMEOUT_MS)])
    const answer = await fetched(url, { signal: limited }).catch((error: unknown) => {
      throw GatewayError.is(error) && error.status === 400 ? error : unavailable()
    })
    if (answer.status !== 200) throw unavailable()
    const mime = (answer.headers.get('content-type') ?? 'application/octet-stream').split(';', 1)[0] as string
    return { mime: mime.trim(), data: base64(await read(answer)) }
  }
}

async function read(answer: Response): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = answer.body?.getReader()
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    size += next.value.length
    if (size > MAX_MEDIA_BYTES) throw GatewayError.invalid('messages', 'A media URL leads to more than 20 MB.')
    chunks.push(next.value)
  }
  return chunks
}

/** Pieces of three bytes each become four characters, so that they can be joined. */
const PIECE = 3 * 8192

function base64(chunks: readonly Uint8Array[]): string {
  const bytes = concatBytes(chunks)
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)))
  return text
}

function unavailable(): GatewayError {
  return GatewayError.invalid(
    'messages',
    'A media URL could not be fetched for a model that takes media inline only. Send the data itself.',
  )
}
