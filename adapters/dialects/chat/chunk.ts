// The frames of a chat stream. Deltas are written by template: only the text itself is stringified.
import type { Json, JsonObject } from '../../../core/types/canonical.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'

export const DONE = 'data: [DONE]\n\n'

/** What every chunk of one stream repeats. */
export interface ChunkHead {
  id: string
  created: number
  model: string
}

export interface ChunkWriter {
  /** `delta` is JSON text. */
  delta(choice: number, delta: string): string
  logprobs(choice: number, logprobs: Json): string
  finish(choice: number, reason: string): string
  usage(usage: JsonObject): string
}

export function chunkWriter(head: ChunkHead): ChunkWriter {
  const open = `data: {${headMembers(head)},"choices":[`
  return {
    delta: (choice, delta) => `${open}{"index":${choice},"delta":${delta},"logprobs":null,"finish_reason":null}]}\n\n`,
    logprobs: (choice, logprobs) =>
      `${open}{"index":${choice},"delta":{},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}]}\n\n`,
    finish: (choice, reason) =>
      `${open}{"index":${choice},"delta":{},"logprobs":null,"finish_reason":${JSON.stringify(reason)}}]}\n\n`,
    usage: (usage) => `${open}],"usage":${JSON.stringify(usage)}}\n\n`,
  }
}

/** In place of `choices`: with an empty array beside it some clients do not see the error. No [DONE] follows. */
export function errorFrame(head: ChunkHead, error: GatewayErrorShape): string {
  const body = { message: error.message, type: error.type, param: error.param, code: error.code }
  return `data: {${headMembers(head)},"error":${JSON.stringify(body)}}\n\n`
}

function headMembers(head: ChunkHead): string {
  return `"id":${JSON.stringify(head.id)},"object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)}`
}
