// Types of a control-plane caller.

/** `member` reads, `manage` administers one organization, `system` administers the whole gateway. */
export type Role = 'public' | 'member' | 'manage' | 'system'

export interface Operator {
  /** The name for audit and logs: `local`, `cli`, `token:3`, a user id. */
  readonly actor: string
  readonly orgId: number | null
  readonly role: 'member' | 'manage' | 'system'
  /** May call GET routes only. */
  readonly readOnly: boolean
  /** How the caller was authenticated. */
  readonly auth: 'open' | 'password' | 'token' | 'host'
}
