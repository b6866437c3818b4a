// Warns about members of a request that a vendor has no place for.
import type { CodecContext } from '../../../core/types/request/dialect.ts'

/** @param members by the name of the caller's format; those that are undefined or empty were not asked for. */
export function leftOut(codec: CodecContext, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) codec.warn(`dropped_${name}`)
}
