// The setting `upstream_headers.pass`: passes rate-limit headers and the request id of the upstream that answered to the caller. Off by
// default, because they show the account's limits to every caller.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { isForeign } from '../../core/records/request-record.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

const KINDS = ['ratelimit', 'request_id'] as const
type Kind = (typeof KINDS)[number]

const RATE_LIMIT = /^(?:x-ratelimit-|anthropic-ratelimit-|ratelimit(?:-|$))[a-z0-9-]{0,60}$/
const REQUEST_IDS = ['x-request-id', 'request-id', 'x-goog-request-id', 'cf-ray']
/** The name of the header with the upstream's id; `x-request-id` is the gateway's own. */
export const UPSTREAM_REQUEST_ID = 'x-upstream-request-id'
const MAX_VALUE = 256

export const upstreamHeaders = definePlugin({
  name: 'upstream-headers',
  settings: {
    'upstream_headers.pass': z.array(z.enum(KINDS)).default([]),
  },
  variables: {
    PASS_UPSTREAM_HEADERS: {
      setting: 'upstream_headers.pass',
      about: 'Headers of the upstream that the gateway passes to callers: `ratelimit`, `request_id`.',
    },
  },
  setup(gateway) {
    let kinds: ReadonlySet<Kind> = new Set(gateway.settings.get('upstream_headers.pass'))
    gateway.settings.watch('upstream_headers.pass', (list) => {
      kinds = new Set(list)
    })
    const passed = gateway.slot<readonly string[]>()

    /** Headers of an earlier attempt do not apply to this one. */
    const pass = (ctx: RequestContext): void => {
      for (const name of passed.get(ctx) ?? []) ctx.responseHeaders.delete(name)
      // The limits of another organization's account are not shown.
      const from = isForeign(ctx.candidate) ? null : ctx.upstreamHeaders
      const found = from === null ? [] : [...headersOf(from, kinds)].filter(([name]) => !ctx.responseHeaders.has(name))
      for (const [name, value] of found) ctx.responseHeaders.set(name, value)
      passed.set(
        ctx,
        found.map(([name]) => name),
      )
    }

    gateway.hook(
      'attempt',
      async (ctx, _candidate, next) => {
        try {
          return await next()
        } finally {
          pass(ctx)
        }
      },
      { when: () => kinds.size > 0 },
    )
  },
})

function* headersOf(headers: HeaderBag, kinds: ReadonlySet<Kind>): Iterable<[name: string, value: string]> {
  if (kinds.has('request_id')) {
    const id = REQUEST_IDS.map((name) => headers.get(name)).find((value) => value !== null && value !== '')
    if (id !== undefined && id !== null) yield [UPSTREAM_REQUEST_ID, plain(id)]
  }
  if (!kinds.has('ratelimit')) return
  for (const [name, value] of headers) if (RATE_LIMIT.test(name.toLowerCase())) yield [name.toLowerCase(), plain(value)]
}

function plain(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '').slice(0, MAX_VALUE)
}

export default upstreamHeaders
