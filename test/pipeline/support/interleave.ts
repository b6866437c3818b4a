// Parallel tool calls with interleaved frames that keep each call's own order and the order of their starts. Chat vendors interleave by
// index, responses by output_index, messages by content block.
import { RENDERERS, type Reply } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'

/** `pick` returns numbers in [0, n). */
export function interleaved(upstream: Dialect, reply: Reply, pick: (n: number) => number): string[] {
  const frames = RENDERERS[upstream].frames(reply)
  if (upstream === 'generate_content') return frames
  const keyOf = KEYS[upstream]()
  const keys = frames.map((frame) => keyOf(dataOf(frame)))
  const queues = new Map<number, string[]>()
  frames.forEach((frame, at) => {
    const key = keys[at]
    if (key !== undefined) queues.set(key, [...(queues.get(key) ?? []), frame])
  })
  const begun = new Set<string[]>()
  return frames.map((frame, at) => {
    if (keys[at] === undefined) return frame
    const waiting = [...queues.values()].findIndex((queue) => !begun.has(queue))
    const open = [...queues.values()].filter((queue, index) => queue.length > 0 && (begun.has(queue) || index === waiting))
    const next = open[pick(open.length)] as string[]
    begun.add(next)
    return next.shift() as string
  })
}

type Json = Record<string, unknown>

/** Returns the tool call of a frame; undefined for all other frames. */
const KEYS: Record<Exclude<Dialect, 'generate_content'>, () => (data: Json) => number | undefined> = {
  chat: () => (data) => {
    const delta = (data.choices as { delta?: { tool_calls?: { index: number }[] } }[] | undefined)?.[0]?.delta
    return delta?.tool_calls?.[0]?.index
  },
  messages: () => {
    const calls = new Set<unknown>()
    return (data) => {
      if ((data.content_block as Json | undefined)?.type === 'tool_use') calls.add(data.index)
      return calls.has(data.index) ? (data.index as number) : undefined
    }
  },
  responses: () => {
    const calls = new Set<unknown>()
    return (data) => {
      if ((data.item as Json | undefined)?.type === 'function_call') calls.add(data.output_index)
      return calls.has(data.output_index) ? (data.output_index as number) : undefined
    }
  },
}

function dataOf(frame: string): Json {
  // Not a regular expression: its lines end at U+2028, those of the wire do not.
  const data = frame.slice(frame.indexOf('data: ') + 6).trim()
  return data === '[DONE]' ? {} : (JSON.parse(data) as Json)
}
