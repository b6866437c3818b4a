// Validates what a handler returns. A value of another shape is a bug of that plugin. Without this check it would break another plugin or
// be taken for an answer.
import type { HookName } from '../types/plugin/hooks.ts'

export interface ReturnType {
  /** Used in messages such as "it returned a string, which is no …". */
  readonly noun: string
  fits(value: unknown): boolean
}

type SwapRemoveList = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is SwapRemoveList => typeof value === 'object' && value !== null
const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'
const isIdOrNull = (value: unknown): boolean => value === null || Number.isSafeInteger(value)
const listOf = (value: unknown, fits: (item: unknown) => boolean): boolean => Array.isArray(value) && value.every(fits)

const isPrincipal = (value: unknown): boolean =>
  isObject(value) &&
  isIdOrNull(value.keyId) &&
  isIdOrNull(value.orgId) &&
  isTextOrNull(value.label) &&
  (value.allowedModels === null || listOf(value.allowedModels, isText))

const isTarget = (value: unknown): boolean =>
  isObject(value) &&
  isText(value.provider) &&
  isText(value.model) &&
  isTextOrNull(value.connectionId) &&
  typeof value.weight === 'number'

const isPlan = (value: unknown): boolean =>
  isObject(value) && listOf(value.targets, isTarget) && isText(value.strategy) && isTextOrNull(value.virtualModel)

const isCandidate = (value: unknown): boolean => isObject(value) && isObject(value.target) && isObject(value.connection)

const isChoice = (value: unknown): boolean => isObject(value) && listOf(value.parts, isObject)

const isResponse = (value: unknown): boolean => isObject(value) && listOf(value.choices, isChoice) && isObject(value.usage)

const isContinued = (value: unknown): boolean => isObject(value) && isText(value.text)

/** The answer of an operation other than chat has no choices, or those of completions. */
const isAnswer = (value: unknown): boolean => {
  if (!isObject(value) || !('choices' in value)) return isObject(value) && isText(value.model) && isObject(value.usage)
  return isResponse(value) || (listOf(value.choices, isContinued) && isObject(value.usage))
}

/** Header text that a server accepts. */
const isHeaderText = (value: unknown): boolean => typeof value === 'string' && !/[^\t\x20-\x7e\x80-\xff]/.test(value)

/** Checks the shape of a result. Header text is checked only on hooks that make an answer: a layer passes on the result inside it. */
/** A getter decodes the answer when something reads it, so a check must not. */
const isResult =
  (isHeader: (value: unknown) => boolean) =>
  (value: unknown): boolean => {
    if (!isObject(value)) return false
    if (value.kind === 'full') return Object.hasOwn(value, 'response') ? isResponse(value.response) : 'response' in value
    if (value.kind === 'stream') return isObject(value.source) && typeof value.source.pump === 'function'
    if (value.kind === 'answer') return isObject(value.reply) && typeof value.reply.answer === 'function'
    const { status, headers } = value
    return (
      value.kind === 'raw' &&
      Number.isInteger(status) &&
      Number(status) >= 200 &&
      Number(status) < 600 &&
      listOf(headers, isHeader)
    )
  }

const ANSWER: ReturnType = { noun: 'Result', fits: isResult(isHeaderText) }

/** The handler of a plugin's route may also ask the host to turn the exchange into a WebSocket. */
export const ROUTE_RETURN: ReturnType = {
  noun: ANSWER.noun,
  fits: (value) => ANSWER.fits(value) || (isObject(value) && value.kind === 'raw' && value.status === 101),
}

const LAYER: ReturnType = { noun: 'Result', fits: isResult(isText) }

/** Return types by hook. Hooks that are not listed return nothing. */
export const RETURNS: Readonly<Partial<Record<HookName, ReturnType>>> = {
  authenticate: { noun: 'Principal (keyId, label, orgId, allowedModels)', fits: isPrincipal },
  resolve: { noun: 'Plan (targets, strategy, virtualModel)', fits: isPlan },
  answer: ANSWER,
  candidates: { noun: 'list of Candidates', fits: (value) => listOf(value, isCandidate) },
  call: LAYER,
  attempt: LAYER,
  stream: { noun: 'StreamTransform', fits: (value) => isObject(value) && typeof value.event === 'function' },
  'stream:batch': { noun: 'list of StreamEvents', fits: (value) => listOf(value, (item) => isObject(item) && isText(item.e)) },
  response: { noun: 'CanonicalResponse, or the answer of the operation', fits: isAnswer },
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Returns `a string`, `an object`: never the value itself, which may be a prompt. */
export function kindOf(value: unknown): string {
  if (isThenable(value)) return 'a promise'
  if (Array.isArray(value)) return 'a list'
  const type = typeof value
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
