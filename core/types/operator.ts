// A caller of the control plane.

/** `member` reads, `manage` administers an organization, `system` the whole gateway. */
export type Role = 'public' | 'member' | 'manage' | 'system'

export interface Operator {
  /** For audit and logs: `local`, `cli`, `token:3`, a user id. */
  readonly actor: string
  readonly orgId: number | null
  readonly role: 'member' | 'manage' | 'system'
  /** GET only. */
  readonly readOnly: boolean
  /** How it was recognised. */
  readonly auth: 'open' | 'password' | 'token' | 'host'
}
