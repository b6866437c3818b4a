// Carries reasoning of other vendors through a client that drops thought parts (Gemini CLI does) but keeps its function calls unchanged.
// The first call after the thoughts carries them in its `thoughtSignature`; the next request restores them before that call.
import { wrapSignature } from '../../../core/models/signature.ts'
import { byteLength } from '../../../core/text/bytes.ts'
import type {
  Frozen,
  Json,
  JsonObject,
  Part,
  ReasoningPart,
  Signature,
  ToolCallPart,
} from '../../../core/types/request/canonical.ts'
import { isObject } from './fields.ts'

/** The prefix of the list in an envelope; the number is the version of the format. */
const HEAD = 'thoughts/1:'
const ANY_VERSION = /^thoughts\/\d{1,9}:/
/** Limit of the list's bytes. A longer list is not carried, because the client sends it back with every later request. */
const MOST_BYTES = 64 * 1024

/** One thought in the list. The envelope has its vendor and model family. */
interface Carried {
  text?: string
  summary?: string[]
  signature?: string
  redacted?: string
  /** OpenRouter's `reasoning_details`. */
  details?: Json[]
}

type Origin = Pick<Signature, 'dialect' | 'modelFamily'>
type Thought = Frozen<ReasoningPart & Part>

/** Collects the thoughts of one answer for its calls. */
export class ThoughtCarrier {
  #thoughts: Thought[] = []

  /** Adds a whole thought. */
  add(part: Thought): void {
    this.#thoughts.push(part)
  }

  /**
   * Returns the `thoughtSignature` for a call without its own. Returns undefined when no foreign secret was added since the last call
   * that took one, or when the list is too long.
   */
  take(): string | undefined {
    if (this.#thoughts.length === 0) return undefined
    const thoughts = this.#thoughts
    this.#thoughts = []
    const origin = thoughts.map(originOf).find((one) => one !== null)
    if (!origin || origin.dialect === 'generate_content') return undefined
    const value = HEAD + JSON.stringify(thoughts.flatMap((part) => carried(part, origin)))
    return byteLength(value) > MOST_BYTES ? undefined : wrapSignature({ ...origin, value }, 'base64')
  }
}

/** Returns whether a signature is a list of thoughts, of any version. */
export function isCarrier(signature: Frozen<Signature> | undefined): signature is Frozen<Signature> {
  return signature !== undefined && ANY_VERSION.test(signature.value)
}

/** Returns a model turn with the carried thoughts restored before the calls that carried them, each secret once. */
export function unpackThoughts(parts: Part[]): Part[] {
  if (!parts.some(carries)) return parts
  const out: Part[] = []
  /** Secrets and lists that `out` contains. */
  const seen = new Set<string>()
  /** The parts since the last call. */
  let step: Part[] = []
  for (const part of parts) {
    if (part.t !== 'tool_call') {
      step.push(part)
      continue
    }
    const list = carries(part) && !seen.has(part.signature.value) ? part.signature : undefined
    if (list !== undefined) seen.add(list.value)
    // One at a time: as arguments of one call, the parts of a long turn would overflow the stack.
    for (const before of restored(step, list === undefined ? [] : thoughtsOf(list), seen)) out.push(before)
    out.push(carries(part) ? unsigned(part) : part)
    step = []
  }
  return [...out, ...restored(step, [], seen)]
}

/**
 * Returns the parts before a call with its carried thoughts. A signed thought that the client kept stays in its place, in the carried
 * form, which has the exact text and the members that thought parts cannot hold. The list also has the unsigned thoughts, so the kept
 * ones are removed.
 */
function restored(step: readonly Part[], thoughts: readonly Part[], seen: Set<string>): Part[] {
  const places = new Map<string, number>()
  const slots: Part[][] = [[]]
  for (const part of step) {
    const secret = secretOf(part)
    if (secret !== null && (seen.has(secret) || places.has(secret))) continue
    if (secret !== null) places.set(secret, slots.length)
    slots.push(part.t === 'reasoning' && secret === null && thoughts.length > 0 ? [] : [part])
  }
  let at = 0
  for (const thought of thoughts) {
    const secret = secretOf(thought)
    const place = secret === null ? undefined : places.get(secret)
    if (secret !== null && seen.has(secret)) continue
    if (secret !== null) seen.add(secret)
    if (place === undefined) slots[at]?.push(thought)
    else {
      slots[place] = [thought]
      at = Math.max(at, place)
    }
  }
  for (const secret of places.keys()) seen.add(secret)
  return slots.flat()
}

type CarryingCall = Part & ToolCallPart & { signature: Signature }

function carries(part: Part): part is CarryingCall {
  return part.t === 'tool_call' && isCarrier(part.signature)
}

function unsigned({ signature: _, ...call }: CarryingCall): Part {
  return call
}

/** Returns the secret of a signed thought, by kind; null for any other part. */
function secretOf(part: Frozen<Part>): string | null {
  if (part.t !== 'reasoning') return null
  if (part.redacted !== undefined) return `redacted ${part.redacted}`
  const secret = part.signature ?? part.encrypted
  return secret === undefined || secret.value === '' ? null : `secret ${secret.value}`
}

/** Returns null for a thought without a secret. Details do not name their model. */
function originOf(part: Thought): Origin | null {
  const secret = part.signature ?? part.encrypted
  if (part.redacted !== undefined) return { dialect: 'messages', modelFamily: secret?.modelFamily ?? '' }
  if (secret !== undefined && secret.value !== '') return { dialect: secret.dialect, modelFamily: secret.modelFamily }
  return detailsOf(part) === undefined ? null : { dialect: 'chat', modelFamily: '' }
}

/** Returns [] for a thought without a secret, or with a secret of another origin than the list's. */
function carried(part: Thought, list: Origin): Carried[] {
  const origin = originOf(part)
  if (origin !== null && (origin.dialect !== list.dialect || origin.modelFamily !== list.modelFamily)) return []
  if (part.redacted !== undefined) return [{ redacted: part.redacted }]
  const { text, summary } = part
  const signature = (part.signature ?? part.encrypted)?.value
  const details = detailsOf(part)
  const entry: Carried = {
    ...(text === '' ? {} : { text }),
    ...(summary === undefined ? {} : { summary: [...summary] }),
    ...(signature ? { signature } : {}),
    ...(details === undefined ? {} : { details: details as Json[] }),
  }
  return Object.keys(entry).length === 0 ? [] : [entry]
}

function detailsOf(part: Thought): Frozen<Json>[] | undefined {
  const details = part.ext?.chat?.reasoning_details as Frozen<Json> | undefined
  return Array.isArray(details) && details.length > 0 && details.every(isDetail) ? details : undefined
}

function thoughtsOf(list: Frozen<Signature>): Part[] {
  return listOf(list.value).map((entry) => thoughtOf(entry, list))
}

function thoughtOf(entry: Carried, { dialect, modelFamily }: Frozen<Signature>): Part {
  const { text = '', summary, redacted, details } = entry
  if (redacted !== undefined)
    return { t: 'reasoning', text: '', redacted, encrypted: { dialect: 'messages', modelFamily, value: redacted } }
  const part: ReasoningPart & Part = { t: 'reasoning', text }
  if (summary !== undefined) part.summary = summary
  // In the responses dialect a text beside the encrypted form is raw thought, not a summary.
  else if (dialect === 'responses') part.summary = []
  if (entry.signature !== undefined) part.signature = { dialect, modelFamily, value: entry.signature }
  if (details !== undefined) part.ext = { chat: { reasoning_details: details } }
  return part
}

/** Returns [] for an unreadable list: clients may truncate or change it. */
function listOf(value: string): Carried[] {
  if (!value.startsWith(HEAD) || byteLength(value) > MOST_BYTES) return []
  try {
    const list = JSON.parse(value.slice(HEAD.length)) as Json
    return Array.isArray(list) && list.every(isCarried) ? (list as unknown as Carried[]) : []
  } catch {
    return []
  }
}

function isCarried(entry: Json): boolean {
  if (!isObject(entry)) return false
  const { text, summary, signature, redacted, details } = entry
  return (
    [text, signature, redacted].every((value) => value === undefined || typeof value === 'string') &&
    (summary === undefined || (Array.isArray(summary) && summary.every((line) => typeof line === 'string'))) &&
    (details === undefined || (Array.isArray(details) && details.every(isDetail)))
  )
}

/** Details are flat, as in OpenRouter's format, so no reader has to bound their depth. */
function isDetail(detail: Frozen<Json>): detail is Frozen<JsonObject> {
  return isObject(detail) && Object.values(detail).every((value) => typeof value !== 'object' || value === null)
}
