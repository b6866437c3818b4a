// Checks model ids, in every dialect and operation. Some upstreams put the id into the path, where it must not change the path's meaning.
// The id is never trimmed, folded or decoded: the checked text is the text that is sent.
import { GatewayError } from '../errors/gateway-error.ts'

const MAX_LENGTH = 256
/** Control characters and lone surrogates, characters that end a path, and escapes that an upstream might decode. */
const CHARACTERS = /[\p{Cc}\p{Cs}\\?#]|%(?:u|[0-9a-f]{2})/iu
/** A segment that is empty, `.` or `..`, also with parameters after a `;` that some servers drop. */
const SEGMENT = /(?:^|\/)\.{0,2}(?:;[^/]*)?(?:\/|$)/

/** Returns the fault of a model id; null when it is valid. */
export function modelIdFault(model: string): string | null {
  if (model.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  if (CHARACTERS.test(model)) return 'contains a control character, a backslash, `?`, `#` or a percent escape'
  if (SEGMENT.test(model)) return 'has an empty, `.` or `..` segment between its slashes'
  return null
}

/** Ids that were checked before: a gateway sees the same ones again and again. */
const valid = new Set<string>()
const MOST_VALID = 256

/** Returns the id. @throws GatewayError 400 with this `param`. */
export function checkedModelId(model: string, param = 'model'): string {
  if (valid.has(model)) return model
  const fault = modelIdFault(model)
  if (fault === null) {
    if (valid.size >= MOST_VALID) valid.clear()
    valid.add(model)
    return model
  }
  // No provider has a model with such segments.
  const code = SEGMENT.test(model) ? 'model_not_found' : null
  throw GatewayError.invalid(param, `\`${param}\` ${fault}. Send the model id as the provider writes it.`, code)
}
