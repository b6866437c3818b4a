// Keys in reports: identified by id, shown by label. Labels may repeat and change.
import type { UsageRow } from './ledger.ts'

export class KeyNames {
  readonly #labels = new Map<string, string>()
  readonly #shared = new Map<string, number>()

  /** The group of a row's key; null without a key. The newest label is shown: rows come newest first. */
  idOf({ keyId, keyLabel }: UsageRow): string | null {
    if (keyId === null) return keyLabel
    const id = `#${keyId}`
    if (keyLabel !== null && !this.#labels.has(id)) {
      this.#labels.set(id, keyLabel)
      this.#shared.set(keyLabel, (this.#shared.get(keyLabel) ?? 0) + 1)
    }
    return id
  }

  /** `ci`; where several keys have this label `ci (#7)`; without one `#7`. */
  nameOf(id: string): string {
    const label = this.#labels.get(id)
    if (label === undefined) return id
    return (this.#shared.get(label) ?? 0) > 1 ? `${label} (${id})` : label
  }
}
