// Reads the whole body of a request for rules that block, also the members that no dialect knows.
import { decodeUtf8 } from '../../core/text/bytes.ts'
import { bodyTexts } from './body-texts.ts'
import { inspectTexts } from './inspect-texts.ts'
import type { Inspection } from './inspection.ts'
import type { InjectionPolicy } from './policy.ts'
import type { Place } from './texts.ts'

/** It changes nothing; a finding refuses the request. */
interface Reading {
  /** Returns an inspection with only the blocking rules; one per reading, because it counts hits. */
  inspection(): Inspection
  readonly injection: readonly InjectionPolicy[]
  readonly due: () => boolean
}

export const PLACE: Place = { role: 'user', place: 'text', lead: '' }

/** @throws GatewayError with a detector's decision. */
export function* blockBody(raw: Uint8Array, { inspection, injection, due }: Reading): Generator<void, void> {
  const { texts, joined } = bodyTexts(decodeUtf8(raw, raw[0] === 0xef ? 3 : 0))
  yield* inspectTexts(
    texts.map((text) => ({ text, place: PLACE })),
    { inspection: inspection(), direction: 'input', injection: [], due },
  )
  const parts = joined.map(({ text, role }) => ({
    text,
    place: role === 'user' ? PLACE : ({ ...PLACE, role: 'system' } as Place),
  }))
  yield* inspectTexts(parts, { inspection: inspection(), direction: 'input', injection, due })
}
