// Converts between a canonical stream and a canonical response: collect() turns a stream into a response, replay() a response into a
// stream.
import { GatewayError } from '../errors/gateway-error.ts'
import { noUsage } from '../models/token-estimate.ts'
import { textPieces } from '../text/text-pieces.ts'
import type { CanonicalResponse, Choice, Usage } from '../types/request/answer.ts'
import type { Dialect, Ext, Frozen, Json, Part } from '../types/request/canonical.ts'
import type { Emit, PartKind, StreamEvent } from '../types/request/stream.ts'

export interface Collector {
  event(event: StreamEvent): void
  /** Returns the whole answer. @throws GatewayError when the stream carried an error or never finished. */
  response(): CanonicalResponse
}

export function collector(): Collector {
  const choices = new Map<number, Choice & { order: Map<number, Part> }>()
  let start: { id: string; model: string; created: number } | null = null
  let usage: Usage | null = null
  let error: GatewayError | null = null
  let finished = false
  let ext: Ext = {}

  const choiceAt = (index: number) => {
    let choice = choices.get(index)
    if (choice === undefined) {
      choice = { index, parts: [], finish: 'other', nativeFinish: '', order: new Map() }
      choices.set(index, choice)
    }
    return choice
  }

  return {
    event(event) {
      if (event.e === 'start') {
        start ??= event
        if (event.usage) usage = mergeUsage(usage, event.usage)
        if (event.ext) ext = mergeExt(ext, event.ext)
      } else if (event.e === 'part_stop') choiceAt(event.choice).order.set(event.part, event.full)
      else if (event.e === 'usage') usage = mergeUsage(usage, event.usage)
      else if (event.e === 'finish') {
        finished = true
        const choice = choiceAt(event.choice)
        choice.finish = event.finish
        choice.nativeFinish = event.native
        if (event.stopSequence !== undefined) choice.stopSequence = event.stopSequence
        if (event.safety !== undefined) choice.safety = event.safety
        if (event.ext !== undefined) choice.ext = event.ext
      } else if (event.e === 'end') ext = mergeExt(ext, event.ext ?? {})
      else if (event.e === 'error')
        error = GatewayError.upstream(event.status, event.message, { code: event.code ?? null, kind: 'stream' })
    },
    response() {
      if (error !== null) throw error
      if (!finished) throw GatewayError.protocol('The upstream stream ended without an answer.')
      return {
        id: start?.id ?? '',
        created: start?.created ?? 0,
        model: start?.model ?? '',
        choices: [...choices.values()]
          .sort((a, b) => a.index - b.index)
          .map(({ order, ...choice }) => ({ ...choice, parts: [...order].sort(([a], [b]) => a - b).map(([, part]) => part) })),
        usage: usage ?? { ...noUsage(), estimated: true },
        ext,
      }
    },
  }
}

/** Emits the events of a stream with this answer, each part in one delta, or in several when it is long. */
export function replay(response: Frozen<CanonicalResponse>, emit: Emit): void {
  const { id, model, created, ext } = response
  emit({ e: 'start', id, model, created, ...(isEmpty(ext) ? {} : { ext: ext as Ext }) })
  for (const choice of response.choices) {
    choice.parts.forEach((part, index) => {
      replayPart(choice.index, index, part as Part, emit)
    })
    emit({
      e: 'finish',
      choice: choice.index,
      finish: choice.finish,
      native: choice.nativeFinish,
      ...(choice.stopSequence !== undefined ? { stopSequence: choice.stopSequence } : {}),
      ...(choice.safety !== undefined ? { safety: choice.safety as Json } : {}),
      ...(choice.ext !== undefined ? { ext: choice.ext as Ext } : {}),
    })
  }
  emit({ e: 'usage', usage: response.usage as Usage })
  emit({ e: 'end' })
}

function replayPart(choice: number, part: number, full: Part, emit: Emit): void {
  const open = (kind: PartKind, meta: Extract<StreamEvent, { e: 'part_start' }>['meta'] = {}) =>
    emit({ e: 'part_start', choice, part, kind, meta })
  const delta = (d: Extract<StreamEvent, { e: 'delta' }>['d']) => emit({ e: 'delta', choice, part, d })
  if (full.t === 'text') {
    open('text', full.ext === undefined ? {} : { ext: full.ext })
    if (full.text) for (const text of textPieces(full.text)) delta({ text })
    for (const annotation of full.annotations ?? []) delta({ annotation })
    if (full.signature) delta({ signature: full.signature })
  } else if (full.t === 'reasoning' && full.redacted === undefined) {
    open('reasoning', full.itemId === undefined ? {} : { itemId: full.itemId })
    if (full.text) for (const reasoning of textPieces(full.text)) delta({ reasoning })
    ;(full.summary ?? []).forEach((summary, index) => {
      delta({ summary: index > 0 ? `\n\n${summary}` : summary })
    })
    if (full.signature) delta({ signature: full.signature })
  } else if (full.t === 'refusal') {
    open('refusal', full.ext === undefined ? {} : { ext: full.ext })
    if (full.text) for (const refusal of textPieces(full.text)) delta({ refusal })
  } else if (full.t === 'tool_call') {
    const { id, idMinted, name, namespace, kind, itemId, signature, caller } = full
    open('tool_call', {
      id,
      idMinted,
      name,
      kind,
      ...(namespace ? { namespace } : {}),
      ...(itemId ? { itemId } : {}),
      ...(signature ? { signature } : {}),
      ...(caller !== undefined ? { caller } : {}),
    })
    if (full.args) for (const args of textPieces(full.args)) delta({ args })
  } else if (full.t === 'reasoning') open('redacted')
  else if (full.t === 'image') open('image')
  else if (full.t === 'audio') open('audio')
  else open('server_tool', 'raw' in full ? { raw: full.raw } : {})
  emit({ e: 'part_stop', choice, part, full })
}

function isEmpty(ext: object): boolean {
  for (const _ in ext) return false
  return true
}

function mergeExt(base: Ext, next: Ext): Ext {
  const merged = { ...base }
  for (const dialect in next) merged[dialect as Dialect] = { ...base[dialect as Dialect], ...next[dialect as Dialect] }
  return merged
}

/** Later counters override earlier ones; absent ones stay. */
export function mergeUsage(base: Usage | null, next: Partial<Usage>): Usage {
  const merged: Usage = { ...(base ?? noUsage()), ...next }
  merged.total = next.total ?? merged.inputTotal + merged.outputTotal
  return merged
}
