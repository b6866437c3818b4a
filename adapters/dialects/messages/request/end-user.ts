// metadata.user_id: an opaque id, never an address or a phone number, and no longer than the target takes.
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { fittedId, hashedId } from '../../shared/long-ids.ts'

/** Anthropic's documented limit. A target with another limit declares it as a quirk. */
const MAX_LENGTH = 256
const EMAIL = /^[^\s@]+@[^\s@]+$/
const PHONE = /^\+?\d[\d\s().-]{5,20}\d$/

/** The id itself when it is harmless, else its hash. @param own of a caller of this dialect, who knows what an id is. */
export function userId(id: string, own: boolean, codec: CodecContext): string {
  const fitted = fittedId('metadata.user_id', id, codec)
  if (own || fitted !== id) return fitted
  return id.length > MAX_LENGTH || EMAIL.test(id) || PHONE.test(id) ? hashedId(id) : id
}
