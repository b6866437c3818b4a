// Compaction items of the gateway. Their content is sealed for the organization: no other tenant can read it, and a change is noticed.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import type { SealedAt, Vault } from '../../core/types/ports/ports.ts'
import type { Frozen, Json, JsonObject } from '../../core/types/request/canonical.ts'
import { DIGEST_HEADING } from './entries.ts'

/** Distinguishes the gateway's items from those of vendors. */
const PREFIX = 'gw1.'

const TYPES: ReadonlySet<Json | undefined> = new Set(['compaction', 'compaction_summary'])

export async function sealedItem(vault: Vault, digest: string, orgId: number | null): Promise<JsonObject> {
  await vault.prepare(orgId)
  return {
    id: randomId('cmp_'),
    type: 'compaction',
    encrypted_content: PREFIX + (await vault.seal(digest, placeOf(orgId))),
  }
}

/** Returns the sealed text of an item of the gateway; null for any other item. */
export function sealedIn(item: Frozen<Json>): string | null {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return null
  const { type, encrypted_content: content } = item as Frozen<JsonObject>
  return TYPES.has(type as Json) && typeof content === 'string' && content.startsWith(PREFIX) ? content : null
}

/** Returns the text of a developer message. @throws GatewayError 400 for an item that was changed, or is of another organization. */
export async function opened(vault: Vault, sealed: string, orgId: number | null, param: string): Promise<string> {
  let digest: string
  try {
    digest = await vault.open(sealed.slice(PREFIX.length), placeOf(orgId))
  } catch {
    throw GatewayError.invalid(
      param,
      `\`${param}\` cannot be read: the item was changed, or another organization or another gateway made it. Send the conversation without it.`,
    )
  }
  return digest === '' ? '' : `${DIGEST_HEADING}\n${digest}`
}

/** Clients may drop an item's id, so it is not part of the place. */
function placeOf(orgId: number | null): SealedAt {
  return { table: 'compaction', id: 'item', column: 'encrypted_content', orgId }
}
