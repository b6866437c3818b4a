// Members of OpenAI's image requests that a vendor with a wire format of its own does not take.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { ImagesRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'

const OPENAI_MEMBERS = [
  'background',
  'input_fidelity',
  'moderation',
  'output_compression',
  'output_format',
  'partial_images',
  'style',
  'user',
]

/**
 * Returns the members of the vendor, and warns about the ones that are left out.
 * @param taken members of OpenAI that the vendor has under the same name.
 * @throws GatewayError for a mask: an edit of the whole image is not what the caller asked for.
 */
export function vendorMembers(
  { extra, quality, mask, stream }: Frozen<ImagesRequest>,
  codec: CodecContext,
  taken: readonly string[] = [],
): JsonObject {
  if (mask !== null) throw GatewayError.unsupported('mask', 'This model takes no mask.')
  if (stream) codec.warn('partial_images_unsupported')
  if (quality !== undefined && quality !== 'auto') codec.warn('dropped_quality')
  const members = { ...(extra as JsonObject) }
  for (const name of OPENAI_MEMBERS) {
    if (members[name] === undefined || taken.includes(name)) continue
    delete members[name]
    if (name !== 'partial_images') codec.warn(`dropped_${name}`)
  }
  return members
}
