// POST /v1/web/fetch: a page of the public web as Markdown, text or HTML. The gateway fetches it itself, or a connected provider does.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { noUsage } from '../../core/models/token-estimate.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { WebFetchAnswer, WebFetchRequest } from '../../core/types/operations/operations.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { body, DIRECT, requestOf, response } from './body.ts'

export const webFetch = definePlugin({
  name: 'web-fetch',
  requires: ['accounts', 'configuration', 'outbound'],
  settings: {
    'web_fetch.allow_private': z.boolean().default(false),
  },
  variables: {
    WEB_FETCH_ALLOW_PRIVATE: {
      setting: 'web_fetch.allow_private',
      about: 'Lets `/v1/web/fetch` read private addresses, for a home network. It has no effect on the cloud profile.',
    },
  },
  setup(gateway) {
    const pages = gateway.optional('pages')
    const accounts = gateway.use('accounts')
    const outbound = gateway.use('outbound')
    const { providers } = gateway.use('configuration')
    const { clock, profile } = gateway
    const strict = profile === 'cloud'

    async function direct(ctx: RequestContext<'web_fetch'>): Promise<Result> {
      const { url, format, includeLinks, timeoutMs } = ctx.request
      const read = pages()
      if (read === undefined) throw GatewayError.unavailable('This gateway was given no way to fetch pages.')
      const allowPrivate = !strict && gateway.settings.get('web_fetch.allow_private')
      const page = await read({ url, format, includeLinks, timeoutMs, strict, allowPrivate }, ctx.signal)
      const usage = noUsage()
      const answer: WebFetchAnswer = { ...page, model: '', usage, provider: DIRECT, fetchedAt: clock.now() }
      return { kind: 'answer', reply: { usage, answer: () => answer } }
    }

    /** No private address reaches a vendor, whatever the setting says. @throws GatewayError 400. */
    async function checkUrl({ url }: Frozen<WebFetchRequest>): Promise<void> {
      const check = pages()?.checkPublic
      if (check !== undefined) await check(url, strict)
      else outbound.check(url, 'url')
    }

    gateway.hook(
      'resolve',
      (ctx) => {
        const { provider: name } = ctx.request
        const found = providers.find(({ id, aliases }) => id === name || aliases.includes(name))
        const served = found?.operations?.web_fetch
        if (found === undefined || served === undefined) {
          const known = providers.filter(({ operations }) => operations?.web_fetch !== undefined).map(({ id }) => `\`${id}\``)
          throw GatewayError.invalid('provider', `\`provider\` must be \`${DIRECT}\` or one of ${known.join(', ')}.`)
        }
        const connected = accounts
          .list()
          .some(({ connection, orgId, enabled }) => enabled && orgId === ctx.principal.orgId && connection.provider === found.id)
        if (!connected)
          throw GatewayError.invalid(
            'provider',
            `No connection to \`${found.id}\` is configured here. Add one, or leave \`provider\` out.`,
          )
        const target = { provider: found.id, model: served.defaultModel ?? 'fetch', connectionId: null, weight: 1 }
        return { targets: [target], strategy: 'direct', virtualModel: null }
      },
      { order: 'pre', operation: 'web_fetch' },
    )
    gateway.hook('request', (ctx) => checkUrl(ctx.request), { order: 'pre', operation: 'web_fetch', onError: 'closed' })

    gateway.data({
      method: 'POST',
      path: '/v1/web/fetch',
      operation: 'web_fetch',
      models: 'none',
      scope: 'rate',
      summary: 'A page of the public web as Markdown, text, HTML or JSON. `provider` names a connected provider that reads it.',
      body,
      response,
      decode: (_ctx, wire) => requestOf(wire.json()),
      handler: (ctx) => (ctx.request.provider === DIRECT ? direct(ctx) : undefined),
    })
  },
})

export default webFetch
