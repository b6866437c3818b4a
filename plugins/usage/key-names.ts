// Names keys in reports: identified by id, shown by label. Labels may repeat and change.
import type { UsageRow } from './ledger.ts'

export class KeyNames {
  readonly #labels = new Map<string, string>()
  readonly #shared = new Map<string, number>()

  /** Returns the group of a row's key; null without a key. The newest label is shown, because the newest rows come first. */
  idOf({ keyId, keyLabel }: UsageRow): string | null {
    if (keyId === null) return keyLabel
    const id = `#${keyId}`
    if (keyLabel !== null && !this.#labels.has(id)) {
      this.#labels.set(id, keyLabel)
      this.#shared.set(keyLabel, (this.#shared.get(keyLabel) ?? 0) + 1)
    }
    return id
  }

  /** Returns the id of a group's key; null for a key that is only known by its label. */
  numberOf(id: string): number | null {
    return /^#\d+$/.test(id) ? Number(id.slice(1)) : null
  }

  /** Returns `ci`; `ci (#7)` when several keys have this label; `#7` without a label. */
  nameOf(id: string): string {
    const label = this.#labels.get(id)
    if (label === undefined) return id
    return (this.#shared.get(label) ?? 0) > 1 ? `${label} (${id})` : label
  }
}
