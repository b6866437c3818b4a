// Inspects the texts of operations other than chat: the inputs of all of them, and the texts of transcriptions, OCR, searches, fetched
// pages and completions.
import { isConversation } from '../../core/calls/conversation.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

interface Guarding {
  readsInput(ctx: RequestContext): boolean
  readsOutput(ctx: RequestContext): boolean
  input(ctx: RequestContext, texts: readonly string[]): Promise<readonly string[]>
  output(ctx: RequestContext, texts: readonly string[]): Promise<readonly string[]>
  readWhole(ctx: RequestContext): void | Promise<void>
  /** @throws GatewayError 400 naming the member, when the policy refuses what it cannot read. */
  tokens(ctx: RequestContext, param: string): void
}

export function guardOperations(
  gateway: Pick<PluginGateway, 'hook'>,
  operations: Services['operations'],
  guarding: Guarding,
): void {
  const isOperation = (ctx: RequestContext): boolean => !isConversation(ctx) && operations.of(ctx.operation) !== undefined

  gateway.hook(
    'request',
    async (ctx) => {
      const { input, tokensIn } = operations.of(ctx.operation) as Driver
      const request = ctx.request as never
      const unread = tokensIn?.(request) ?? null
      if (unread !== null) guarding.tokens(ctx, unread)
      const texts = input.read(request)
      const clean = await guarding.input(ctx, texts)
      if (clean.some((text, at) => text !== texts[at])) Object.assign(ctx.edit(), input.replace(request, clean))
      await guarding.readWhole(ctx)
    },
    { when: (ctx) => isOperation(ctx) && ctx.ingress !== null && guarding.readsInput(ctx) },
  )
  gateway.hook(
    'response',
    async (ctx, answer) => {
      const { output } = operations.of(ctx.operation) as Driver
      const texts = output.read(answer as never)
      const clean = await guarding.output(ctx, texts)
      return clean.some((text, at) => text !== texts[at]) ? output.replace(answer as never, clean) : undefined
    },
    { when: (ctx) => isOperation(ctx) && hasTexts(operations.of(ctx.operation) as Driver) && guarding.readsOutput(ctx) },
  )
}

type Driver = NonNullable<ReturnType<Services['operations']['of']>>

/** Other answers have no texts: vectors, scores, images, audio. */
const WITH_TEXTS = new Set(['ocr', 'transcription', 'search', 'web_fetch', 'completions'])

function hasTexts({ id }: Driver): boolean {
  return WITH_TEXTS.has(id)
}
