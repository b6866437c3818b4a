// A part of a whole as a bar. It is no limit: a large part is no warning.
import type { ComponentChildren } from 'preact'
import { percent } from '../../app/format.ts'

/** @param of 0 … 1 */
export function Part({ of: part, label, children }: { of: number; label: string; children?: ComponentChildren }) {
  return (
    <span class="share">
      <meter class="fine" aria-label={label} min={0} max={1} value={Number.isFinite(part) ? Math.min(Math.max(part, 0), 1) : 0} />
      <span>{children ?? percent(part)}</span>
    </span>
  )
}
