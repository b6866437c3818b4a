// THINK_TAG_MODELS: for models that write their thoughts in `<think>` tags, moves the thoughts to the reasoning channel of every dialect.
// Other models keep the byte lane.
import { z } from 'zod'
import {
  type CanonicalResponse,
  collector,
  definePlugin,
  type Frozen,
  globMatch,
  type RequestContext,
  replay,
} from '../../core/index.ts'
import { SplitStream } from './split-stream.ts'
import { type Tag, ThinkTagParser } from './tag-parser.ts'

const MODELS = ['*deepseek-r1*', '*qwq*', '*qwen3*', '*magistral*', '*minimax-m*', '*-thinking*', '*reasoner*']

export const thinkTags = definePlugin({
  name: 'think-tags',
  settings: {
    /** Globs over the upstream's model id, ignoring letter case; none = off. */
    'think_tags.models': z.array(z.string()).default(MODELS).meta({ scope: 'organization' }),
  },
  variables: {
    THINK_TAG_MODELS: {
      setting: 'think_tags.models',
      emptyMeans: 'disabled',
      about: 'Globs of models that think in tags inside the text. The gateway moves these thoughts to the reasoning channel.',
    },
  },
  setup(gateway) {
    // With the verdict for each model id that was seen.
    const set = gateway.settings.compiled((get) => ({
      globs: get('think_tags.models').map((glob) => glob.toLowerCase()),
      judged: new Map<string, boolean>(),
    }))
    const when = (ctx: RequestContext): boolean => {
      if (ctx.candidate === null) return false
      const { model } = ctx.candidate.target
      const { globs, judged } = set(ctx.principal.orgId)
      const known = judged.get(model)
      if (known !== undefined) return known
      const lower = model.toLowerCase()
      const thinks = globs.some((glob) => globMatch(glob, lower))
      // Model ids may come from callers, so the cache is limited.
      if (judged.size >= 1000) judged.clear()
      judged.set(model, thinks)
      return thinks
    }
    // Runs before other hooks, so that they get thoughts as thoughts.
    gateway.hook('stream', () => new SplitStream(), { order: 'pre', operation: 'chat', when })
    gateway.hook('response', (_ctx, response) => split(response), { order: 'pre', operation: 'chat', when })
  },
})

/** Splits a whole answer like a stream of it; undefined when it has no tag. */
function split(response: Frozen<CanonicalResponse>): CanonicalResponse | undefined {
  const first = new Map(response.choices.map((choice) => [choice.index, firstTag(choice)]))
  if ([...first.values()].every((tag) => tag === null)) return undefined
  // Some chat templates write the opening tag themselves, so the answer has only the closing one.
  const stream = new SplitStream((choice) => first.get(choice) === 'close')
  const whole = collector()
  replay(response, (event) => stream.event(event, whole.event))
  const parts = new Map(whole.response().choices.map((choice) => [choice.index, choice.parts]))
  const { choices, ...rest } = response as CanonicalResponse
  return { ...rest, choices: choices.map((choice) => ({ ...choice, parts: parts.get(choice.index) ?? [] })) }
}

function firstTag({ parts }: Frozen<CanonicalResponse>['choices'][number]): Tag | null {
  const parser = new ThinkTagParser()
  for (const part of parts) {
    if (part.t !== 'text') continue
    parser.push(part.text, NOWHERE)
    parser.release(NOWHERE)
    if (parser.first !== null) return parser.first
  }
  return null
}

const NOWHERE = { text() {}, reasoning() {} }

export default thinkTags
