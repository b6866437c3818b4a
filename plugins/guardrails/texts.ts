// Lists the texts of requests and answers with their places: system, turns, thoughts, tool calls and their results, documents. Ids,
// names, schemas and media are not texts.
import type { CanonicalResponse, Choice } from '../../core/types/request/answer.ts'
import type { CanonicalRequest, Ext, Frozen, Json, Message, Part } from '../../core/types/request/canonical.ts'
import { mapJsonStrings } from './json-strings.ts'
import type { TextInfo } from './service.ts'

export interface Place extends Pick<TextInfo, 'role' | 'place'> {
  /** Text that gives the context. */
  readonly lead: string
}

export type Visit = (text: string, place: Place) => string

/** Visits every text in order. Unchanged objects stay the same objects. */
export function mapRequest(
  request: Frozen<CanonicalRequest>,
  visit: Visit,
): Pick<CanonicalRequest, 'system' | 'messages' | 'ext'> & { changed: boolean } {
  const { system, messages, ext } = request as CanonicalRequest
  const blocks = mapped(system, (block) => withParts(block, mapParts(block.parts, 'system', visit)))
  const turns = mapped(messages, (message) => withParts(message, mapParts(message.parts, roleOf(message.role), visit)))
  const others = withPrediction(ext, visit)
  const changed = blocks !== system || turns !== messages || others !== ext
  return { system: blocks, messages: turns, ext: others, changed }
}

/** The predicted answer, often a whole file of the caller. */
function withPrediction(ext: Ext, visit: Visit): Ext {
  const expected = ext.chat?.prediction as Json | undefined
  if (expected === undefined) return ext
  const prediction = mapJson(expected, { role: 'user', place: 'document', lead: '' }, visit)
  return prediction === expected ? ext : { ...ext, chat: { ...ext.chat, prediction } }
}

const SAID = new Set<Part['t']>(['text', 'refusal', 'reasoning', 'tool_call', 'audio'])

/** Does the same for an answer. Results of a vendor's own tools stay unchanged, as in a stream. */
export function mapResponse(response: Frozen<CanonicalResponse>, visit: Visit): CanonicalResponse {
  const whole = response as CanonicalResponse
  const choices = mapped(whole.choices, (choice: Choice) => {
    const parts = mapped(choice.parts, (part) => (SAID.has(part.t) ? mapPart(part, 'assistant', visit) : part))
    if (parts === choice.parts) return choice
    // These members spell the text out token by token, or quote it.
    const { logprobs, ext, ...rest } = choice
    return { ...rest, parts }
  })
  return choices === whole.choices ? whole : { ...whole, choices }
}

/** Visits the texts of one part of an answer. */
export function mapPartTexts(part: Part, visit: (text: string, info: TextInfo) => string): Part {
  if (!SAID.has(part.t)) return part
  return mapPart(part, 'assistant', (text, { role, place }) => visit(text, { direction: 'output', role, place }))
}

function roleOf(role: Message['role']): TextInfo['role'] {
  return role === 'developer' ? 'system' : role
}

function mapParts(parts: Part[], role: TextInfo['role'], visit: Visit): Part[] {
  return mapped(parts, (part) => {
    const cited = part.t === 'text' ? part.annotations?.filter(({ raw }) => isClean(raw, role, visit)) : undefined
    const clean = mapPart(part, role, visit)
    if (clean.t !== 'text' || clean.annotations?.length === cited?.length) return clean
    const { annotations, ...rest } = clean
    return { ...rest, ...(annotations !== undefined && cited?.length ? { annotations: cited } : {}) }
  })
}

/** Quotes in citations are sent upstream too. */
function isClean(raw: Json, role: TextInfo['role'], visit: Visit): boolean {
  return mapJson(raw, { role, place: 'document', lead: '' }, visit) === raw
}

function mapPart(part: Part, role: TextInfo['role'], visit: Visit): Part {
  const at = (place: TextInfo['place']): Place => ({ role, place, lead: '' })
  switch (part.t) {
    case 'text': {
      const text = visit(part.text, at('text'))
      if (text === part.text) return part
      // Their offsets point into text that was removed.
      const { annotations, ...rest } = part
      return { ...rest, text }
    }
    case 'refusal': {
      const text = visit(part.text, at('text'))
      return text === part.text ? part : { ...part, text }
    }
    case 'reasoning': {
      const text = part.text === '' ? '' : visit(part.text, at('reasoning'))
      const summary = part.summary === undefined ? undefined : mapped(part.summary, (one) => visit(one, at('reasoning')))
      const details = detailsOf(part)
      const elsewhere = details === '' || details === part.text ? details : visit(details, at('reasoning'))
      if (text === part.text && summary === part.summary && elsewhere === details) return part
      // The signature and the vendor's copy belong to the original thought: a vendor would refuse the changed thought, or read the
      // original.
      const { signature, encrypted, ext, ...rest } = part
      return { ...rest, text, ...(summary ? { summary } : {}) }
    }
    case 'audio': {
      const transcript = part.transcript === undefined ? undefined : visit(part.transcript, at('text'))
      return transcript === part.transcript ? part : { ...part, transcript }
    }
    case 'tool_call': {
      const args = mapArguments(part.args, (text, lead) => visit(text, { role, place: 'tool_call', lead }))
      return args === part.args ? part : { ...part, args }
    }
    case 'tool_result': {
      const inner = mapParts(part.parts, 'tool', (text, { lead }) => visit(text, { role: 'tool', place: 'tool_result', lead }))
      const json =
        part.json === undefined ? undefined : mapJson(part.json, { role: 'tool', place: 'tool_result', lead: '' }, visit)
      if (inner === part.parts && json === part.json) return part
      return { ...part, parts: inner, ...(json === undefined ? {} : { json }) }
    }
    case 'document':
      return mapDocument(part, role, visit)
    case 'server_tool':
    case 'opaque': {
      const raw = mapJson(part.raw, at('tool_result'), visit)
      return raw === part.raw ? part : { ...part, raw }
    }
    default:
      return part
  }
}

/** Returns the vendor's details of a thought (OpenRouter). */
export function detailsOf({ ext }: Extract<Part, { t: 'reasoning' }>): string {
  const details = ext?.chat?.reasoning_details
  if (!Array.isArray(details)) return ''
  return details.map((entry) => textIn(entry, 'text') + textIn(entry, 'summary')).join('')
}

function textIn(entry: Json, name: string): string {
  const value = typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry[name] : undefined
  return typeof value === 'string' ? value : ''
}

type DocumentPart = Extract<Part, { t: 'document' }>

function mapDocument(part: DocumentPart, role: TextInfo['role'], visit: Visit): Part {
  const read = (text: string) => visit(text, { role, place: 'document', lead: '' })
  const changes: Partial<DocumentPart> = {}
  if (part.title !== undefined) changes.title = read(part.title)
  if (part.context !== undefined) changes.context = read(part.context)
  if ('text' in part.src) {
    const text = read(part.src.text)
    if (text !== part.src.text) changes.src = { text }
  } else if ('parts' in part.src) {
    const parts = mapParts(part.src.parts, role, (text, { lead }) => visit(text, { role, place: 'document', lead }))
    if (parts !== part.src.parts) changes.src = { parts }
  }
  const same = (Object.keys(changes) as (keyof DocumentPart)[]).every((name) => changes[name] === part[name])
  return same ? part : { ...part, ...changes }
}

/** Visits arguments of a call: JSON, or the text of a custom tool. */
export function mapArguments(args: string, visit: (text: string, lead: string) => string): string {
  return args === '' ? args : (mapJsonStrings(args, visit) ?? visit(args, ''))
}

function mapJson(value: Json, place: Place, visit: Visit): Json {
  const before = JSON.stringify(value)
  const after = mapJsonStrings(before, (text, lead) => visit(text, { ...place, lead })) ?? before
  return after === before ? value : (JSON.parse(after) as Json)
}

function withParts<T extends { parts: Part[] }>(owner: T, parts: Part[]): T {
  return parts === owner.parts ? owner : { ...owner, parts }
}

function mapped<T>(list: T[], fn: (item: T) => T): T[] {
  let changed = false
  const out = list.map((item) => {
    const next = fn(item)
    if (next !== item) changed = true
    return next
  })
  return changed ? out : list
}
