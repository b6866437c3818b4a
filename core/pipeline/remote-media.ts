// Fetches media for a target that accepts inline media only. A failure names the address where the caller wrote it, in every dialect.
import { GatewayError } from '../errors/gateway-error.ts'
import type { Dialect, Frozen, Json } from '../types/request/canonical.ts'
import type { DialectDriver } from '../types/request/dialect.ts'
import type { CallState } from './call-state.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** Inlines the remote media of the request. @throws GatewayError 400. */
export async function inlineRemote(
  runtime: Runtime,
  ctx: RequestState,
  call: CallState,
  upstream: DialectDriver,
  remote: readonly string[],
): Promise<void> {
  const { fetchMedia } = runtime
  if (fetchMedia === undefined) {
    const message = 'This target takes media inline only, and this gateway does not fetch URLs.'
    throw GatewayError.unsupported(paramOf(ctx, remote[0] as string), message)
  }
  const fetched = remote.map(async (url) => {
    try {
      return [url, await fetchMedia(url, ctx.signal)] as const
    } catch (error) {
      if (!GatewayError.is(error) || error.status !== 400) throw error
      throw GatewayError.invalid(paramOf(ctx, url), error.message, error.code)
    }
  })
  call.replace(upstream.inlineMedia?.(call.request, new Map(await Promise.all(fetched))) ?? call.edit())
}

/** The member that holds the content in each dialect, for requests without a wire body (internal calls, plugin edits). */
const CONTENT: Readonly<Partial<Record<Dialect, string>>> = {
  chat: 'messages',
  messages: 'messages',
  responses: 'input',
  generate_content: 'contents',
}

function paramOf({ body, dialect }: RequestState, url: string): string {
  const path = body === null ? null : pathOfUrl(body.json(), url)
  return path === null ? (CONTENT[dialect] ?? 'messages') : path.join('.').slice(0, 200)
}

/**
 * Returns the path of the member with this URL: `image_url.url`, `source.url`, `fileData.fileUri`. A text member with the same value does
 * not count. The request scan has limited the depth.
 */
function pathOfUrl(value: Frozen<Json>, url: string): string[] | null {
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    if (inner === url && /ur[il]$/i.test(name)) return [name]
    const path = pathOfUrl(inner as Frozen<Json>, url)
    if (path !== null) return [name, ...path]
  }
  return null
}
