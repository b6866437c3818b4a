// Identifies management tokens: `gmt_` and 43 base-62 characters (256 bits), looked up by their MAC.
import { BatchWriter } from '../../core/db/batch-writer.ts'
import { randomId } from '../../core/ids/ids.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { refused } from './refusal.ts'
import type { AccountSource } from './service.ts'
import { markUsed, type TokenRow } from './store.ts'

export const TOKEN_PREFIX = 'gmt_'
const RANDOM = 43
const RANK: readonly Operator['role'][] = ['member', 'manage', 'owner', 'system']
/** Resolution of `last_used_at`. */
const USE_NOTED_EVERY_MS = 60_000

export function newToken(): string {
  return randomId(TOKEN_PREFIX, RANDOM)
}

export interface Tokens {
  /** @throws GatewayError 401 for an unknown, revoked or expired token. */
  identify(token: string): Operator
  /** Stores the last uses. */
  close(): Promise<void>
}

export function tokens(
  gateway: Pick<PluginGateway, 'db' | 'clock' | 'log'>,
  mac: (token: string) => string,
  byMac: () => ReadonlyMap<string, TokenRow>,
  accounts: () => Pick<AccountSource, 'role'> | null,
): Tokens {
  const { db, clock, log } = gateway
  const noted = new Map<number, number>()
  const uses = new BatchWriter<{ id: number; at: number }>({
    name: 'last use of management tokens',
    clock,
    log,
    write: async (rows) => {
      for (const { id, at } of rows) await markUsed(db, id, at)
    },
  })

  const note = ({ id, last_used_at }: TokenRow): void => {
    const now = clock.now()
    if (now - Math.max(noted.get(id) ?? 0, last_used_at ?? 0) < USE_NOTED_EVERY_MS) return
    noted.set(id, now)
    uses.push({ id, at: now })
  }

  /** A person's token has at most the rights that the person has now, and in an organization at most those of its owner. */
  const roleNow = ({ user_id, org_id, role }: TokenRow): TokenRow['role'] | null => {
    // A system administrator leaves it in the hands of the organization that it was made for.
    const most = org_id !== 0 && role === 'system' ? 'owner' : role
    if (user_id === null) return most
    const now = accounts()?.role(user_id, org_id === 0 ? null : org_id) ?? null
    return now !== null && RANK.indexOf(now) < RANK.indexOf(most) ? now : now && most
  }

  return {
    identify(token) {
      const row = byMac().get(mac(token))
      if (row === undefined) throw refused('This management token is unknown or was revoked.')
      if (row.expires_at !== null && row.expires_at <= clock.now())
        throw refused(`This management token expired on ${new Date(row.expires_at).toISOString()}.`)
      const role = roleNow(row)
      if (role === null) throw refused('The person who made this management token has no access any more.')
      note(row)
      return {
        actor: `token:${row.id}`,
        orgId: row.org_id === 0 ? null : row.org_id,
        role,
        ...(row.user_id === null ? {} : { userId: row.user_id }),
        readOnly: row.scope === 'read',
        auth: 'token',
      }
    },
    close: () => uses.close(),
  }
}
