// The version of the gateway that this page was opened with, and a newer one that answers meanwhile.
import { signal } from '@preact/signals'

let first: string | null = null

/** The version that answers now, when it is another one than at the start of this page; else null. */
export const otherVersion = signal<string | null>(null)

/** Called with each version that the gateway names. */
export function seenVersion(version: string): void {
  first ??= version
  otherVersion.value = version === first ? null : version
}
