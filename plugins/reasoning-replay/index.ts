// REASONING_REPLAY: some upstreams refuse a tool turn without its original thoughts, and most callers omit them. This plugin stores the
// thoughts of answers with tool calls for two hours, for the same key, tenant and model only, and restores them in a history without
// them. Off by default; then no request is inspected.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { ReasoningPart } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { captured } from './capture.ts'
import { replayInChat, replayInMessages, wantedInChat, wantedInMessages } from './history.ts'
import { migrations } from './migrations.ts'
import { type KeyOf, keysOf } from './scope.ts'
import { keptThoughts } from './thoughts.ts'

const SWEEP_MS = 60_000

export const reasoningReplay = definePlugin({
  name: 'reasoning-replay',
  settings: {
    'reasoning_replay.enabled': z.boolean().default(false).meta({ scope: 'organization' }),
  },
  variables: {
    REASONING_REPLAY: {
      setting: 'reasoning_replay.enabled',
      about: 'Keep reasoning and put it back into later requests, by tool-call id.',
    },
  },
  migrations,
  setup(gateway) {
    const { settings, vault } = gateway
    const thoughts = keptThoughts(gateway)
    const enabled = settings.compiled((get) => get('reasoning_replay.enabled'))
    let forgetting: Promise<void> | null = null
    settings.watch('reasoning_replay.enabled', (wanted, orgId) => {
      // Switched off for the gateway, all are removed: organizations that keep it on collect new ones.
      if (!wanted) forgetting = Promise.all([forgetting, thoughts.forget(orgId ?? undefined)]).then(() => {})
    })
    gateway.every('sweep', SWEEP_MS, () => thoughts.sweep(enabled(null)))
    const when = (ctx: RequestContext): boolean => ctx.candidate !== null && enabled(ctx.principal.orgId)

    const keyOf = (ctx: RequestContext): KeyOf => keysOf(ctx, (data) => vault.mac('key', data))
    const capture = (ctx: RequestContext) =>
      captured(keyOf(ctx), (keys: readonly string[], parts: readonly ReasoningPart[]) => {
        if (enabled(ctx.principal.orgId)) thoughts.keep(ctx.principal.orgId, keys, parts)
      })
    // Captures the upstream's own text: a thought that another plugin changed is useless for its model.
    gateway.hook('stream', (ctx) => capture(ctx), { order: 'pre', before: 'think-tags', operation: 'chat', when })
    gateway.hook(
      'response',
      (ctx, { choices }) => {
        const { choice } = capture(ctx)
        for (const each of choices) choice(each)
      },
      { order: 'pre', before: 'think-tags', operation: 'chat', when },
    )

    gateway.hook(
      'prepare',
      (ctx, call) => {
        if (call.codec.upstream !== 'messages') return
        const wanted = wantedInMessages(call.request, keyOf(ctx))
        const replay = (): void => {
          const messages = replayInMessages(call.request, call.codec, wanted, thoughts.find)
          if (messages !== null) call.edit().messages = messages
        }
        const fetching = thoughts.fetched(ctx.principal.orgId, wanted)
        return fetching === undefined ? replay() : fetching.then(replay)
      },
      { operation: 'chat', when },
    )
    gateway.hook(
      'encoded',
      (ctx, call) => {
        if (call.codec.upstream !== 'chat') return
        const wanted = wantedInChat(call.body, keyOf(ctx))
        const replay = (): void => replayInChat(call.body, call.codec, wanted, thoughts.find)
        const fetching = thoughts.fetched(ctx.principal.orgId, wanted)
        return fetching === undefined ? replay() : fetching.then(replay)
      },
      { after: 'payload-rules', when },
    )
    return async () => {
      await forgetting
      await thoughts.close()
    }
  },
})

export default reasoningReplay
