// Stores the turns of responses callers: `previous_response_id` and `item_reference` work on every upstream, also when another one answers
// than before.
import { z } from 'zod'
import { randomId } from '../../core/ids/ids.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { addStoring } from './answers/storing.ts'
import { addApi } from './api.ts'
import { addBackground } from './background/background.ts'
import { eventLog } from './background/event-log.ts'
import { runStore } from './background/run-store.ts'
import { backgroundRuns } from './background/runs.ts'
import { addCompactInput } from './chains/compact-input.ts'
import { addResolving } from './chains/resolving.ts'
import { conversationStore } from './conversations/conversation-store.ts'
import { addConversations } from './conversations/conversations.ts'
import { idsOf } from './ids.ts'
import { migrations } from './migrations.ts'
import type { Parts } from './parts.ts'
import { records } from './records.ts'
import { addRoutes } from './routes.ts'
import { turnStore } from './store.ts'

const DAY_MS = 86_400_000
const PRUNE_MS = 3_600_000
/** A conversation may be as long as a body of the route. */
const MAX_CHAIN_BYTES = 20 * 1024 * 1024

export const responsesState = definePlugin({
  name: 'responses-state',
  requires: ['responseItems', 'ownCalls'],
  config: z.strictObject({
    /** `auto`: on the local profile. */
    enabled: z.enum(['auto', 'true', 'false']).default('auto'),
    ttlDays: z.int().min(1).max(3650).default(30),
    /** Turns of one conversation. */
    maxTurns: z.int().min(1).max(10_000).default(2000),
    /** Bytes of one turn; a larger one is answered and not stored. */
    maxBytes: z
      .int()
      .min(1)
      .max(MAX_CHAIN_BYTES)
      .default(4 * 1024 * 1024),
    /** The callers that may continue a conversation: its own key, or every key of the organization. */
    share: z.enum(['key', 'org']).default('key'),
  }),
  variables: {
    RESPONSES_STATE: { option: 'enabled', about: 'Store the turns of /v1/responses; auto: on in the profile local.' },
    RESPONSES_STATE_TTL_DAYS: { option: 'ttlDays', about: 'How long a stored turn is kept, days.' },
    RESPONSES_STATE_MAX_BYTES: { option: 'maxBytes', about: 'Largest turn that is stored, bytes.' },
    RESPONSES_STATE_SHARE: {
      option: 'share',
      about: 'Callers that may continue a stored conversation: the same key, or every key of the organization.',
    },
  },
  migrations,
  setup(gateway, { enabled, ttlDays, maxTurns, maxBytes, share }) {
    const { clock, vault } = gateway
    const store = turnStore(gateway, { maxTurns, maxChainBytes: MAX_CHAIN_BYTES })
    // Also while it is off: what was stored expires.
    const runs = runStore(gateway)
    const events = eventLog(gateway)
    const conversations = conversationStore(gateway, { ttlMs: ttlDays * DAY_MS, maxBytes: MAX_CHAIN_BYTES })
    gateway.every(
      'prune',
      PRUNE_MS,
      async () => {
        await store.prune(clock.now())
        await runs.prune(clock.now())
        await events.prune()
        await conversations.prune(clock.now())
      },
      { once: true },
    )
    const parts: Parts = {
      ids: idsOf(vault, clock),
      items: gateway.use('responseItems'),
      store,
      runs,
      events,
      conversations,
      ttlMs: ttlDays * DAY_MS,
      async answerOf(scope, token) {
        const run = await runs.find(scope, token)
        if (run !== undefined && run.status !== 'completed') return run.head
        const found = await store.response(scope, token)
        return found === null ? null : { ...found.head, output: [...found.turn.output] }
      },
      readers: ({ principal: { orgId, keyId } }) => ({ orgId, keyId: share === 'org' ? 'all' : keyId }),
    }
    addApi(gateway, parts, records(gateway))
    if (enabled === 'false' || (enabled === 'auto' && gateway.profile !== 'local')) return
    const resolving = addResolving(gateway, parts)
    const { of: resolved } = resolving
    addCompactInput(gateway, parts, resolving)
    const calls = gateway.use('ownCalls')
    const running = backgroundRuns({ store: runs, events, calls, clock, log: gateway.log, owner: randomId('runner_') })
    addStoring(gateway, parts, { maxBytes, resolved, runOf: running.runOf })
    addBackground(gateway, parts, running)
    addRoutes(gateway, parts, running)
    addConversations(gateway, parts)
    return () => running.close()
  },
})

export default responsesState
