// Assembles a streamed answer while it passes, also a truncated one. It only watches.
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Part } from '../../../core/types/request/canonical.ts'
import type { StreamEvent, StreamTransform } from '../../../core/types/request/stream.ts'

interface OpenPart {
  readonly kind: string
  readonly name: string | undefined
  readonly id: string | undefined
  text: string
  full: Part | null
}

interface OpenChoice {
  readonly parts: Map<number, OpenPart>
  finish: string | null
}

export interface Assembly {
  readonly transform: StreamTransform
  /** Number of stored characters. */
  readonly size: number
  /** Returns the message so far as JSON; `truncated` when it was longer than the limit. */
  message(): { json: string; truncated: boolean }
}

export function assembly(maxChars: number): Assembly {
  const choices = new Map<number, OpenChoice>()
  let head: { id: string; model: string } | null = null
  let usage: Partial<Usage> | null = null
  let size = 0
  let truncated = false

  const choiceAt = (index: number): OpenChoice => {
    const known = choices.get(index) ?? { parts: new Map(), finish: null }
    choices.set(index, known)
    return known
  }
  const grow = (text: string): string => {
    const room = Math.max(0, maxChars - size)
    if (text.length > room) truncated = true
    const kept = text.length > room ? text.slice(0, room) : text
    size += kept.length
    return kept
  }
  const delta = ({ choice, part, d }: Extract<StreamEvent, { e: 'delta' }>): void => {
    const open = choiceAt(choice).parts.get(part)
    if (open === undefined) return
    if ('text' in d) open.text += grow(d.text)
    else if ('args' in d) open.text += grow(d.args)
    else if ('reasoning' in d) open.text += grow(d.reasoning)
    else if ('summary' in d) open.text += grow(d.summary)
    else if ('refusal' in d) open.text += grow(d.refusal)
  }
  const event = (next: StreamEvent): void => {
    if (next.e === 'delta') delta(next)
    else if (next.e === 'start') head ??= { id: next.id, model: next.model }
    else if (next.e === 'part_start') {
      const { name, id } = next.meta
      choiceAt(next.choice).parts.set(next.part, { kind: next.kind, name, id, text: '', full: null })
    } else if (next.e === 'part_stop') {
      const open = choiceAt(next.choice).parts.get(next.part)
      // Media arrive at the end of their part; texts are stored already.
      if (open !== undefined && (next.full.t === 'image' || next.full.t === 'audio')) open.full = next.full
    } else if (next.e === 'finish') choiceAt(next.choice).finish = next.finish
    else if (next.e === 'usage') usage = { ...usage, ...next.usage }
  }
  return {
    transform: { passive: true, event },
    get size() {
      return size
    },
    message() {
      const all = [...choices].sort(([a], [b]) => a - b)
      const json = JSON.stringify({
        id: head?.id ?? null,
        model: head?.model ?? null,
        choices: all.map(([index, { parts, finish }]) => ({
          index,
          message: { role: 'assistant', parts: [...parts].sort(([a], [b]) => a - b).map(([, part]) => shown(part)) },
          finish_reason: finish,
        })),
        usage: usage === null ? null : { prompt: usage.inputTotal ?? null, completion: usage.outputTotal ?? null },
      })
      return { json, truncated }
    },
  }
}

function shown({ kind, name, id, text, full }: OpenPart): object {
  if (full !== null && (full.t === 'image' || full.t === 'audio')) return { type: kind, source: full.src }
  if (kind === 'tool_call') return { type: kind, id: id ?? null, name: name ?? null, arguments: text }
  return { type: kind, text }
}
