// Writes the frames of a chat stream. Deltas use a template: only the text itself is stringified.

import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'

export const DONE = 'data: [DONE]\n\n'

/** Members that every chunk of a stream repeats. */
export interface ChunkHead {
  id: string
  created: number
  model: string
}

export interface ChunkWriter {
  /** `delta` is JSON text. */
  delta(choice: number, delta: string): string
  logprobs(choice: number, logprobs: Json): string
  /** `own`: unknown members of the choice, and of its message in `message`. */
  finish(choice: number, reason: string, own?: JsonObject): string
  usage(usage: JsonObject): string
}

/** `own`: unknown members of the answer. Texts are repeated in each chunk; the others are in the first chunk. */
export function chunkWriter(head: ChunkHead, own?: JsonObject): ChunkWriter {
  const next = `data: {${headMembers(head)}${members(textsOf(own))},"choices":[`
  let first = `data: {${headMembers(head)}${members(own)},"choices":[`
  const open = (): string => {
    const lead = first
    first = next
    return lead
  }
  return {
    delta: (choice, delta) => `${open()}{"index":${choice},"delta":${delta},"logprobs":null,"finish_reason":null}]}\n\n`,
    logprobs: (choice, logprobs) =>
      `${open()}{"index":${choice},"delta":{},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}]}\n\n`,
    finish: (choice, reason, { message = {}, ...own } = {}) =>
      `${open()}{"index":${choice},"delta":${JSON.stringify(message)},"logprobs":null,"finish_reason":${JSON.stringify(reason)}${members(own)}}]}\n\n`,
    usage: (usage) => `${open()}],"usage":${JSON.stringify(usage)}}\n\n`,
  }
}

/** Returns a chunk for members that arrive after the finish. It has a choice, because many clients read one from every chunk. */
export function lateChunk(head: ChunkHead, own: JsonObject): string {
  return `data: {${headMembers(head)},"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":null}]${members(own)}}\n\n`
}

/** The error replaces `choices`: some clients ignore it beside an empty array. No [DONE] follows. */
export function errorFrame(head: ChunkHead, error: GatewayErrorShape): string {
  const body = { message: error.message, type: error.type, param: error.param, code: error.code }
  return `data: {${headMembers(head)},"error":${JSON.stringify(body)}}\n\n`
}

function members(own: JsonObject | undefined): string {
  const json = own === undefined ? '{}' : JSON.stringify(own)
  return json === '{}' ? '' : `,${json.slice(1, -1)}`
}

function textsOf(own: JsonObject | undefined): JsonObject | undefined {
  return own === undefined ? undefined : Object.fromEntries(Object.entries(own).filter(([, value]) => typeof value === 'string'))
}

function headMembers(head: ChunkHead): string {
  return `"id":${JSON.stringify(head.id)},"object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)}`
}
