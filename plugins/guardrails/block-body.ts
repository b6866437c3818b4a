// The body of a request under rules that block, as a second reading: nothing is changed here, and what is found ends the request.
import { decodeUtf8 } from '../../core/text/bytes.ts'
import { bodyTexts } from './body-texts.ts'
import { inspectTexts } from './inspect-texts.ts'
import type { Inspection } from './inspection.ts'
import type { InjectionPolicy } from './policy.ts'
import type { Place } from './texts.ts'

interface Reading {
  /** With the rules that block alone; one for each reading, since hits are counted in it. */
  inspection(): Inspection
  readonly injection: InjectionPolicy | null
  readonly due: () => boolean
}

const PLACE: Place = { role: 'user', place: 'text', lead: '' }

/** @throws GatewayError what a detector decided. */
export function* blockBody(raw: Uint8Array, { inspection, injection, due }: Reading): Generator<void, void> {
  const { texts, joined } = bodyTexts(decodeUtf8(raw, raw[0] === 0xef ? 3 : 0))
  yield* inspectTexts(
    texts.map((text) => ({ text, place: PLACE })),
    { inspection: inspection(), direction: 'input', injection: null, due },
  )
  const parts = joined.map(({ text, role }) => ({
    text,
    place: role === 'user' ? PLACE : ({ ...PLACE, role: 'system' } as Place),
  }))
  yield* inspectTexts(parts, { inspection: inspection(), direction: 'input', injection, due })
}
