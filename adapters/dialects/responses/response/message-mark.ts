// Marks the upstream message item and the phase of a text. A canonical answer has neither; this dialect's encoder rebuilds the items from
// the marks.
import type { Ext, Frozen } from '../../../../core/types/canonical.ts'

export function messageMark(item: string, phase: string): Ext {
  return { responses: { item, ...(phase === '' ? {} : { phase }) } }
}

/** Both undefined for texts of other dialects. */
export function readMark(ext: Frozen<Ext> | undefined): { item: string | undefined; phase: string | undefined } {
  const { item, phase } = ext?.responses ?? {}
  return {
    item: typeof item === 'string' && item !== '' ? item : undefined,
    phase: typeof phase === 'string' ? phase : undefined,
  }
}
