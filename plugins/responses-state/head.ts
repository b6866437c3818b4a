// The head of a stored answer: everything that its reader gets beside the items of the turn.
import { estimateUsage } from '../../core/models/token-estimate.ts'
import { collector } from '../../core/stream/collect.ts'
import { byteLength } from '../../core/text/bytes.ts'
import type { CanonicalResponse, Usage } from '../../core/types/answer.ts'
import type { CanonicalRequest, Frozen, Part } from '../../core/types/canonical.ts'
import type { StreamEvent } from '../../core/types/stream.ts'
import { isInstructions } from './history.ts'

export interface Head {
  /** Without messages. */
  readonly request: CanonicalRequest
  /** One choice without parts. */
  readonly response: CanonicalResponse
  /** The family of the model that answered. */
  readonly family: string
  /** Epoch ms. */
  readonly completedAt: number
}

export interface HeadWriter {
  whole(response: Frozen<CanonicalResponse>): void
  event(event: StreamEvent): void
  /** Returns null for a stream that did not finish. `output`: the parts, for counts that no upstream reported. */
  head(output: readonly (Part | null)[], facts: HeadFacts): Head | null
}

export interface HeadFacts {
  readonly request: Frozen<CanonicalRequest>
  /** The name that the caller sent. */
  readonly requestedModel: string
  /** The upstream's model. */
  readonly model: string
  readonly family: string
  readonly now: number
}

export function headWriter(): HeadWriter {
  const collected = collector()
  let given: Frozen<CanonicalResponse> | null = null
  let finished = false
  return {
    whole(response) {
      given = response
    },
    event(event) {
      if (event.e === 'finish' && event.choice === 0) finished = true
      // The parts are in the turn.
      if (event.e !== 'part_stop' && event.e !== 'error' && (!('choice' in event) || event.choice === 0)) collected.event(event)
    },
    head(output, { request, requestedModel, model, family, now }) {
      const response = (given ?? (finished ? collected.response() : null)) as CanonicalResponse | null
      const choice = response?.choices[0]
      if (response === null || choice === undefined) return null
      return {
        request: {
          ...(request as CanonicalRequest),
          model: requestedModel,
          messages: [],
          system: (request as CanonicalRequest).system.filter(isInstructions),
          headers: {},
        },
        response: {
          ...response,
          model: response.model || model,
          choices: [{ ...choice, parts: [] }],
          usage: isEmpty(response.usage) ? estimateUsage(request, contentBytes(output)) : response.usage,
        },
        family,
        completedAt: now,
      }
    },
  }
}

function isEmpty({ estimated, inputTotal, outputTotal }: Usage): boolean {
  return estimated && inputTotal === 0 && outputTotal === 0
}

function contentBytes(output: readonly (Part | null)[]): number {
  let bytes = 0
  for (const part of output) {
    if (part?.t === 'text' || part?.t === 'reasoning' || part?.t === 'refusal') bytes += byteLength(part.text)
    else if (part?.t === 'tool_call') bytes += byteLength(part.args)
  }
  return bytes
}
