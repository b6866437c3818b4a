// thinking, output_config and state of a request → canonical. Unknown members of a nested object stay in `ext` under its name.
import type { CanonicalRequest, Effort, JsonObject, ReasoningOptions } from '../../../../core/types/canonical.ts'
import { numberField, objectField, others, textField, wrongType } from '../../shared/fields.ts'

const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const MODES: readonly string[] = ['enabled', 'adaptive', 'disabled', 'between_tools']
const THINKING_KEYS = new Set(['type', 'budget_tokens', 'display'])

/** Sets `reasoning` and `output`; what has no canonical place goes into `ext`. */
export function decodeThinkingAndOutput(wire: JsonObject, request: CanonicalRequest, ext: JsonObject): void {
  const reasoning: ReasoningOptions = {}
  readThinking(wire, reasoning, ext)
  readOutput(wire, reasoning, request, ext)
  if (Object.keys(reasoning).length > 0) request.reasoning = reasoning
}

export function decodeState(wire: JsonObject, request: CanonicalRequest): void {
  const { container, context_management: contextManagement, thread } = wire
  if (container === undefined && contextManagement === undefined && thread === undefined) return
  request.state = {
    ...(container === undefined || container === null ? {} : { container }),
    ...(contextManagement === undefined || contextManagement === null ? {} : { contextManagement }),
    ...(thread === undefined || thread === null ? {} : { thread }),
  }
}

function readThinking(wire: JsonObject, reasoning: ReasoningOptions, ext: JsonObject): void {
  const thinking = objectField(wire, 'thinking')
  if (thinking === undefined) return
  const type = textField(thinking, 'type', 'thinking.type')
  if (type === undefined || !MODES.includes(type))
    throw wrongType('thinking.type', '"enabled", "adaptive", "disabled" or "between_tools"')
  reasoning.mode = type as NonNullable<ReasoningOptions['mode']>
  const budget = numberField(thinking, 'budget_tokens', 'thinking.budget_tokens')
  const display = textField(thinking, 'display', 'thinking.display')
  if (budget !== undefined) reasoning.budgetTokens = budget
  if (display === 'omitted') reasoning.summary = 'omitted'
  else if (display === 'summarized')
    Object.assign(reasoning, { summary: 'auto', includeThoughts: true } satisfies ReasoningOptions)
  const rest = others(thinking, THINKING_KEYS)
  if (rest !== null) ext.thinking = rest
}

function readOutput(wire: JsonObject, reasoning: ReasoningOptions, request: CanonicalRequest, ext: JsonObject): void {
  const config = objectField(wire, 'output_config') ?? {}
  const known = new Set<string>()
  const effort = textField(config, 'effort', 'output_config.effort')
  if (effort !== undefined && EFFORTS.includes(effort)) {
    reasoning.effort = effort as Effort
    known.add('effort')
  }
  // `output_format` is the beta's name of the same thing.
  const format = objectField(config, 'format', 'output_config.format') ?? objectField(wire, 'output_format')
  if (format?.type === 'json_schema') {
    const schema = objectField(format, 'schema', 'output_config.format.schema')
    request.output = { kind: 'json_schema', ...(schema === undefined ? {} : { schema }) }
    known.add('format')
  }
  const rest = others(config, known)
  if (rest !== null) ext.output_config = rest
}
