// Living client keys in memory: by secret, by id and by label. A change of single keys updates only their entries.
import type { ClientKey } from './service.ts'
import type { KeyRow } from './store.ts'

export class KeyDirectory {
  readonly #byMac = new Map<string, ClientKey>()
  readonly #byId = new Map<number, Known>()
  /** The oldest key with the label. Labels are unique only by convention. */
  readonly #byLabel = new Map<string, ClientKey>()

  constructor(rows: ReadonlyMap<number, KeyRow>) {
    this.take(rows, null)
  }

  /** @param ids the rows that differ; null: any of them may. */
  take(rows: ReadonlyMap<number, KeyRow>, ids: ReadonlySet<number> | null): void {
    if (ids === null) {
      this.#byMac.clear()
      this.#byId.clear()
      this.#byLabel.clear()
      for (const row of rows.values()) this.#add(row)
      return
    }
    for (const id of ids) {
      this.#remove(id)
      const row = rows.get(id)
      if (row !== undefined) this.#add(row)
    }
  }

  withMac(mac: string): ClientKey | null {
    return this.#byMac.get(mac) ?? null
  }

  get(orgId: number | null, id: number): ClientKey | null {
    const key = this.#byId.get(id)?.key
    return key?.orgId === orgId ? key : null
  }

  labelled(orgId: number | null, label: string): ClientKey | null {
    return this.#byLabel.get(nameOf({ orgId, label })) ?? null
  }

  list(orgId: number | null): ClientKey[] {
    const keys: ClientKey[] = []
    for (const { key } of this.#byId.values()) if (key.orgId === orgId) keys.push(key)
    return keys
  }

  #add(row: KeyRow): void {
    const key = clientKey(row)
    this.#byMac.set(row.mac, key)
    this.#byId.set(row.id, { key, mac: row.mac })
    this.#label(key)
  }

  #remove(id: number): void {
    const known = this.#byId.get(id)
    if (known === undefined) return
    this.#byId.delete(id)
    // Another row may have taken over the secret.
    if (this.#byMac.get(known.mac) === known.key) this.#byMac.delete(known.mac)
    const name = nameOf(known.key)
    if (this.#byLabel.get(name) !== known.key) return
    this.#byLabel.delete(name)
    for (const { key } of this.#byId.values()) if (nameOf(key) === name) this.#label(key)
  }

  #label(key: ClientKey): void {
    const name = nameOf(key)
    const holder = this.#byLabel.get(name)
    if (holder === undefined || holder.id > key.id) this.#byLabel.set(name, key)
  }
}

interface Known {
  readonly key: ClientKey
  readonly mac: string
}

function nameOf({ orgId, label }: Pick<ClientKey, 'orgId' | 'label'>): string {
  return `${orgId} ${label}`
}

export function clientKey(row: KeyRow): ClientKey {
  return {
    id: row.id,
    orgId: row.org_id === 0 ? null : row.org_id,
    label: row.label,
    last4: row.last4,
    allowedModels: row.allowed_models,
    rateLimitRpm: row.rate_limit_rpm,
    rateLimitTpm: row.rate_limit_tpm,
    costCenter: row.cost_center,
    sessionBudgetNano: row.session_budget_nano,
    expiresAt: row.expires_at,
    guardrailsExempt: row.guardrails_exempt,
    shadowOptOut: row.shadow_opt_out,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }
}
