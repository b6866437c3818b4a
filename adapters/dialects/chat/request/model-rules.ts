// Applies rules for plain option fields by model and provider, in both lanes: the byte lane edits the caller's body, the events lane
// edits the object that it builds.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Effort, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { clampEffort } from '../../shared/effort.ts'
import { fitIds } from '../../shared/long-ids.ts'
import { isEmptyArray } from './validate.ts'

/** The option fields of a request in either form. null counts as absent. */
export interface Fields {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
  remove(name: string): void
  hasTools(): boolean
  moreToolsThan(max: number): boolean
}

export function bodyFields(body: WireBody): Fields {
  const tools = () => body.raw('tools')
  return {
    get: (name) => body.get(name) ?? undefined,
    set: (name, value) => body.set(name, value),
    remove: (name) => body.remove(name),
    hasTools() {
      const raw = tools()
      return raw !== undefined && raw[0] === '[' && !isEmptyArray(raw)
    },
    // A declaration has at least 30 bytes, so short lists need no check.
    moreToolsThan: (max) => (tools()?.length ?? 0) > max * 30 && body.raw(`tools.${max}`) !== undefined,
  }
}

export function objectFields(wire: JsonObject): Fields {
  const count = () => (Array.isArray(wire.tools) ? wire.tools.length : 0)
  return {
    get: (name) => wire[name] ?? undefined,
    set(name, value) {
      wire[name] = value
    },
    remove(name) {
      delete wire[name]
    },
    hasTools: () => count() > 0,
    moreToolsThan: (max) => count() > max,
  }
}

/** @throws GatewayError unsupported when another target is needed. */
export function applyModelRules(fields: Fields, codec: CodecContext): void {
  const { quirks } = codec
  if (quirks.maxTools !== undefined && fields.moreToolsThan(quirks.maxTools)) {
    throw GatewayError.unsupported('tools', `This provider takes at most ${quirks.maxTools} tools.`)
  }
  const choices = fields.get('n')
  if (quirks.noMultipleChoices && typeof choices === 'number' && choices > 1) {
    throw GatewayError.unsupported(callerField('n', codec.caller), 'This provider answers with one choice only.')
  }
  renameMaxTokens(fields, codec)
  fitSampling(fields, codec, fitEffort(fields, codec))
  fitStop(fields, codec)
  fitIds(fields, codec)
  if (quirks.toolChoiceRequired !== undefined && fields.get('tool_choice') === 'required') {
    fields.set('tool_choice', quirks.toolChoiceRequired)
  }
}

/** Returns the nearest effort that the model supports; `minimal` becomes `low` rather than no reasoning. */
export function nearestEffort(wish: Effort, efforts: readonly Effort[]): Effort {
  if (wish === 'minimal' && !efforts.includes('minimal') && efforts.includes('low')) return 'low'
  return clampEffort(wish, efforts)
}

function renameMaxTokens(fields: Fields, codec: CodecContext): void {
  const wanted = codec.quirks.maxTokensField ?? codec.caps.maxTokensField
  if (wanted === undefined) return
  const other = wanted === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const value = fields.get(other)
  if (value === undefined) return
  // When both are given, max_completion_tokens takes precedence.
  if (wanted === 'max_tokens' || fields.get(wanted) === undefined) fields.set(wanted, value)
  fields.remove(other)
}

function fitEffort(fields: Fields, codec: CodecContext): string | undefined {
  const { caps } = codec
  const given = fields.get('reasoning_effort')
  let effort = typeof given === 'string' ? given : undefined
  // Models with thinking budgets: their hosts convert an effort into a budget, and the models think only on request.
  if (caps.thinking !== undefined && !caps.efforts?.includes('none') && effort === 'none') {
    fields.remove('reasoning_effort')
    effort = undefined
  }
  const budgets = caps.thinking?.enabled === true && caps.efforts?.length === 0
  const none = caps.efforts === undefined ? caps.reasoning === false : caps.efforts.length === 0
  if (effort !== undefined && budgets) return effort
  if (effort !== undefined && none) {
    fields.remove('reasoning_effort')
    if (effort !== 'none') codec.warn('dropped_reasoning')
    effort = undefined
  } else if (effort !== undefined && caps.efforts !== undefined) {
    const fitted = nearestEffort(effort as Effort, caps.efforts)
    if (fitted !== effort) {
      fields.set('reasoning_effort', fitted)
      codec.warn('reasoning_clamped')
      effort = fitted
    }
  }
  if (caps.toolsOnChat === undefined || caps.toolsOnChat === 'yes' || !fields.hasTools()) return effort
  if (caps.toolsOnChat === 'no')
    throw GatewayError.unsupported('tools', 'This model takes function tools only on the responses endpoint.')
  if (effort !== 'none') {
    fields.set('reasoning_effort', 'none')
    codec.warn('reasoning_clamped')
  }
  return 'none'
}

/** Each field with the value that is equivalent to its absence. */
const SAMPLING: readonly (readonly [string, Json])[] = [
  ['temperature', 1],
  ['top_p', 1],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['logit_bias', null],
]

function fitSampling(fields: Fields, codec: CodecContext, effort: string | undefined): void {
  const { caps, quirks } = codec
  const free =
    caps.sampling === undefined || caps.sampling === 'free' || (effort === 'none' && caps.efforts?.includes('none') === true)
  if (!free) {
    for (const [field, neutral] of SAMPLING) {
      if (caps.sampling === 'default_only' && fields.get(field) === neutral) continue
      drop(fields, field, neutral, codec)
    }
  }
  if (quirks.noPenalties) {
    drop(fields, 'frequency_penalty', 0, codec)
    drop(fields, 'presence_penalty', 0, codec)
    drop(fields, 'logit_bias', null, codec)
  }
  if (quirks.noLogprobs) {
    drop(fields, 'logprobs', false, codec)
    drop(fields, 'top_logprobs', 0, codec)
  }
  const temperature = fields.get('temperature')
  if (caps.temperatureMax !== undefined && typeof temperature === 'number' && temperature > caps.temperatureMax) {
    fields.set('temperature', caps.temperatureMax)
    codec.warn('temperature_clamped')
  }
}

function fitStop(fields: Fields, codec: CodecContext): void {
  const stop = fields.get('stop')
  if (stop === undefined) return
  const { quirks } = codec
  if (codec.caps.stopSupported === false || quirks.noStop) {
    fields.remove('stop')
    codec.warn('dropped_stop')
  } else if (quirks.maxStop !== undefined && Array.isArray(stop) && stop.length > quirks.maxStop) {
    fields.set('stop', stop.slice(0, quirks.maxStop))
    codec.warn('stop_truncated')
  }
}

function drop(fields: Fields, field: string, neutral: Json, codec: CodecContext): void {
  const value = fields.get(field)
  if (value === undefined) return
  fields.remove(field)
  if (value !== neutral) codec.warn(`dropped_${field}`)
}
