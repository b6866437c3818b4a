// Gives an answer and its items ids of ours, and collects its parts for the row.
import type { CanonicalResponse } from '../../core/types/answer.ts'
import type { Ext, Frozen, Part } from '../../core/types/canonical.ts'
import type { PartKind, PartMeta, StreamEvent } from '../../core/types/stream.ts'
import { isSaid } from './history.ts'
import { type Ids, MAX_PLACE } from './ids.ts'

export interface AnswerWriter {
  whole(response: Frozen<CanonicalResponse>): CanonicalResponse
  event(event: StreamEvent): StreamEvent
  /** Parts of the first choice as they are stored: without ids, because other upstreams do not know them. */
  readonly output: readonly (Part | null)[]
}

export function answerWriter(ids: Ids, token: string): AnswerWriter {
  const parts: Part[] = []
  /** In a stream, the first part of the message that takes the next text; null: a new one begins. */
  let said: number | null = null
  const metaOf = (kind: PartKind, meta: PartMeta, index: number): PartMeta => {
    if (index > MAX_PLACE) return meta
    const isText = kind === 'text' || kind === 'refusal'
    said = isText ? (said ?? index) : null
    if (isText) return { ...meta, ext: marked(ids, token, meta.ext, said as number) }
    if (kind === 'tool_call') return { ...meta, itemId: ids.item(meta.kind === 'custom' ? 'ctc_' : 'fc_', token, index) }
    return kind === 'reasoning' ? { ...meta, itemId: ids.item('rs_', token, index) } : meta
  }

  return {
    get output() {
      return Array.from(parts, (part) => part ?? null)
    },
    whole(response) {
      const [first, ...others] = (response as CanonicalResponse).choices
      if (first === undefined) return response as CanonicalResponse
      for (const [index, part] of first.parts.entries()) parts[index] = withoutIds(part)
      const shown = shownParts(ids, token, first.parts)
      return { ...(response as CanonicalResponse), id: ids.response(token), choices: [{ ...first, parts: shown }, ...others] }
    },
    event(event) {
      if (event.e === 'start') return { ...event, id: ids.response(token) }
      if (!('choice' in event) || event.choice !== 0) return event
      if (event.e === 'part_start') return { ...event, meta: metaOf(event.kind, event.meta, event.part) }
      if (event.e === 'part_stop') parts[event.part] = withoutIds(event.full)
      return event
    },
  }
}

/** Returns the parts with the ids that a caller gets: the same at each reading. */
export function shownParts(ids: Ids, token: string, output: readonly (Part | null)[]): Part[] {
  let message: number | null = null
  return output.flatMap((part, index): Part[] => {
    if (part === null) return []
    message = isSaid(part) ? (message ?? index) : null
    if (index > MAX_PLACE) return [part]
    if (isSaid(part)) return [{ ...part, ext: marked(ids, token, part.ext, message as number) } as Part]
    if (part.t === 'tool_call') return [{ ...part, itemId: ids.item(part.kind === 'custom' ? 'ctc_' : 'fc_', token, index) }]
    return [part.t === 'reasoning' ? { ...part, itemId: ids.item('rs_', token, index) } : part]
  })
}

function marked(ids: Ids, token: string, ext: Ext | undefined, index: number): Ext {
  return { ...ext, responses: { ...ext?.responses, item: ids.item('msg_', token, index) } }
}

function withoutIds(part: Part): Part {
  if (part.t === 'tool_call' || part.t === 'reasoning') {
    const { itemId: _, ...rest } = part
    return rest as Part
  }
  if (part.ext?.responses?.item === undefined) return part
  const { item: _, ...own } = part.ext.responses
  return { ...part, ext: { ...part.ext, responses: own } } as Part
}
