// The person who is signed in. The server decides what is allowed; the page only hides actions that the server would refuse.
import { computed, signal } from '@preact/signals'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { gatewayTime } from '../../api/gateway-time.ts'
import { type Got, unreachableSince } from '../../api/query.ts'
import { signedOut } from '../../api/session.ts'

export type Role = 'member' | 'manage' | 'owner' | 'system'

const RANK: Record<Role, number> = { member: 1, manage: 2, owner: 3, system: 4 }

export const me = signal<Got<'/api/auth/me'> | null>(null)

export async function loadMe(): Promise<void> {
  try {
    me.value = await answerOf(api.GET('/api/auth/me'))
    unreachableSince.value = null
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) unreachableSince.value ??= gatewayTime()
    else if (error instanceof ApiError && (error.status === 401 || error.status === 403)) signedOut.value = true
  }
}

const rank = computed(() =>
  me.value === null || me.value.read_only ? (me.value === null ? 0 : RANK.member) : RANK[me.value.role],
)

/** Returns true when the page shows the actions of a role. */
export function may(role: Role): boolean {
  return rank.value >= RANK[role]
}
