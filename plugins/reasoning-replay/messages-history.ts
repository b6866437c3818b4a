// Thoughts put back into the history of a messages upstream: it takes only its own, as they were said and signed.
import { bringsSecret, signatureFits } from '../../core/models/signature.ts'
import type { CanonicalRequest, Frozen, Message } from '../../core/types/canonical.ts'
import type { CodecContext } from '../../core/types/dialect.ts'
import type { KeyOf } from './scope.ts'
import type { Find, Wanted } from './thoughts.ts'

/** The turns that called a tool and come without their thoughts: one without its secret is none to a messages upstream. */
export function wantedInMessages({ messages }: Frozen<CanonicalRequest>, keyOf: KeyOf): Wanted[] {
  return messages.flatMap(({ role, parts }, index) => {
    if (role !== 'assistant' || parts.some(bringsSecret)) return []
    const call = parts.find((part) => part.t === 'tool_call')
    return call === undefined ? [] : [{ index, key: keyOf(call.id, call.args) }]
  })
}

/** null when nothing is put back. */
export function replayInMessages(
  { messages }: Frozen<CanonicalRequest>,
  codec: CodecContext,
  wanted: readonly Wanted[],
  find: Find,
): Message[] | null {
  const replayed = [...messages] as Message[]
  let found = false
  for (const { index, key } of wanted) {
    const thoughts = find(key)
    if (!thoughts?.every((part) => part.redacted !== undefined || signatureFits(part.signature, 'messages', codec.caps.family)))
      continue
    found = true
    const message = replayed[index] as Message
    replayed[index] = { ...message, parts: [...thoughts, ...message.parts] }
  }
  return found ? replayed : null
}
