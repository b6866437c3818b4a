// `pipeline`: calls one target after the other, each with the text of the previous one. The last answer is streamed.
import { addedUsage, withUsage } from '../../../core/calls/derived-answer.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { noUsage } from '../../../core/models/token-estimate.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'
import type { CompiledModel } from '../planning/compiled-model.ts'
import { answeredBy } from './answered-by.ts'
import { stepRequest, textOf } from './conversation.ts'

/** @throws GatewayError of the failed step; the steps before it stay booked. 502 for a step without output. */
export async function pipeline(
  gateway: Pick<PluginGateway, 'invoke'>,
  ctx: RequestContext<'chat'>,
  { targets }: CompiledModel,
): Promise<Result> {
  const request = ctx.request
  let usage: Usage = noUsage()
  let text: string | null = null
  for (const [index, target] of targets.entries()) {
    const isLast = index === targets.length - 1
    const asked = stepRequest(request, target, text, isLast)
    const result = await gateway.invoke(asked, { operation: 'chat', source: 'pipeline', parent: ctx, target, role: 'step' })
    if (result.kind === 'full') refuseEmpty(result, index, isLast)
    if (isLast || result.kind !== 'full') return answeredBy(ctx, target, withUsage(result, usage))
    usage = addedUsage(usage, result.response.usage as Usage)
    text = textOf(result.response)
  }
  throw GatewayError.unavailable('This virtual model has no step to make.')
}

function refuseEmpty({ response }: Extract<Result, { kind: 'full' }>, index: number, isLast: boolean): void {
  const calls = response.choices.some(({ parts }) => parts.some(({ t }) => t !== 'text' && t !== 'reasoning'))
  if (textOf(response) !== '' || (isLast && calls)) return
  throw GatewayError.protocol(`Step ${index + 1} of this virtual model answered without a text.`)
}
