// Saves tokens: style instructions that make answers short and code small, and filters that shorten tool output. It applies only to
// clients' requests, not to internal calls of panels, judges and steps.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { filtersApi } from './api.ts'
import { type Filtered, filtering } from './filtering.ts'
import { FILTERS, OFF_BY_DEFAULT } from './filters/list.ts'
import { CAVEMAN_HEADER, instructionsFor, type Levels, levelsOf, PONYTAIL_HEADER, withInstructions } from './levels.ts'
import { CAVEMAN_LEVELS, PONYTAIL_LEVELS } from './texts.ts'

const OPT_OUT_HEADER = 'x-gateway-token-saver'
/** A value besides the levels, so that a stored setting can disable the level of the environment. */
const OFF = 'off'
const PER_ORGANIZATION = { scope: 'organization' } as const

export const tokenSaver = definePlugin({
  name: 'token-saver',
  settings: {
    'token_saver.caveman_level': z
      .enum([...CAVEMAN_LEVELS, OFF])
      .nullable()
      .default(null)
      .meta(PER_ORGANIZATION),
    'token_saver.ponytail_level': z
      .enum([...PONYTAIL_LEVELS, OFF])
      .nullable()
      .default(null)
      .meta(PER_ORGANIZATION),
    'token_saver.filters_enabled': z.boolean().default(false).meta(PER_ORGANIZATION),
    'token_saver.disabled_filters': z
      .array(z.enum(FILTERS.map(({ id }) => id)))
      .default([...OFF_BY_DEFAULT])
      .meta(PER_ORGANIZATION),
  },
  variables: {
    CAVEMAN_LEVEL: { setting: 'token_saver.caveman_level', lenient: true, about: 'Ask models for terse answers.' },
    PONYTAIL_LEVEL: { setting: 'token_saver.ponytail_level', lenient: true, about: 'Ask models for little code.' },
  },
  setup(gateway) {
    const set = gateway.settings.compiled((get) => {
      const caveman = get('token_saver.caveman_level')
      const ponytail = get('token_saver.ponytail_level')
      const levels: Levels = { caveman: caveman === OFF ? null : caveman, ponytail: ponytail === OFF ? null : ponytail }
      const disabled: ReadonlySet<string> = new Set(get('token_saver.disabled_filters'))
      return { levels, disabled, filters: get('token_saver.filters_enabled') }
    })
    const setOf = ({ principal }: RequestContext) => set(principal.orgId)

    const fromClient = (ctx: RequestContext): boolean => ctx.ingress !== null && ctx.parent === null
    const virtualModels = gateway.optional('virtualModels')
    const optedOut = ({ headers, virtualModel, principal }: RequestContext): boolean => {
      if (headers.get(OPT_OUT_HEADER)?.trim().toLowerCase() === OFF) return true
      return virtualModel !== null && virtualModels()?.named(principal.orgId, virtualModel)?.config.tokenSaver === false
    }
    const styles = (ctx: RequestContext): boolean => {
      if (!fromClient(ctx)) return false
      const { levels } = setOf(ctx)
      const { headers } = ctx
      const said = levels.caveman !== null || levels.ponytail !== null
      return (said || headers.has(CAVEMAN_HEADER) || headers.has(PONYTAIL_HEADER)) && !optedOut(ctx)
    }
    const filters = (ctx: RequestContext): boolean => setOf(ctx).filters && fromClient(ctx) && !optedOut(ctx)

    // Cache keys cover only the body, which contains neither, so the version includes both.
    const cachePolicy = gateway.optional('cachePolicy')
    gateway.hook('ready', () =>
      cachePolicy()?.version('token_saver', (ctx) => {
        const { caveman, ponytail } = styles(ctx) ? levelsOf(ctx, setOf(ctx).levels) : { caveman: null, ponytail: null }
        const without = filters(ctx) ? [...setOf(ctx).disabled].sort() : null
        return caveman === null && ponytail === null && without === null ? null : JSON.stringify([caveman, ponytail, without])
      }),
    )

    /** Computed for the first attempt; the same for all others. */
    const found = gateway.slot<readonly string[]>()
    gateway.hook(
      'prepare',
      (ctx, call) => {
        let texts = found.get(ctx)
        if (texts === undefined) {
          const levels = levelsOf(ctx, setOf(ctx).levels)
          texts = instructionsFor(call.request, levels)
          found.set(ctx, texts)
          if (texts.length > 0) ctx.note('token_saver', { ...levels })
        }
        if (texts.length === 0) return
        const request = call.edit()
        request.system = withInstructions(request.system, texts, call.codec.upstream)
      },
      { operation: 'chat', when: styles },
    )

    const results = filtering(gateway.slot<Filtered>(), (ctx) => setOf(ctx).disabled, gateway.optional('savings'))
    gateway.hook('prepare', results.prepare, { operation: 'chat', when: filters })
    filtersApi(gateway, { of: set, stats: results.stats })
  },
})

export default tokenSaver
