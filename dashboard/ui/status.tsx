// A state as glyph, word and colour, so that none of them is needed alone.
import type { ComponentChildren } from 'preact'

export type Tone = 'ok' | 'retried' | 'waiting' | 'refused' | 'failed' | 'quiet'

const GLYPHS: Record<Tone, string> = { ok: '✓', retried: '↻', waiting: '◷', refused: '⊘', failed: '✕', quiet: '·' }

export function Status({ tone, children }: { tone: Tone; children?: ComponentChildren }) {
  return (
    <span class={`status ${tone}`}>
      <span aria-hidden="true" class="glyph">
        {GLYPHS[tone]}
      </span>{' '}
      <span>{children}</span>
    </span>
  )
}

/** The tone of an answered request. */
export function toneOf(status: number, attempts = 1): Tone {
  if (status === 429 || status === 402) return 'waiting'
  if (status >= 500) return 'failed'
  if (status >= 400) return 'refused'
  return attempts > 1 ? 'retried' : 'ok'
}

export function HttpStatus({ status, attempts }: { status: number; attempts?: number }) {
  return <Status tone={toneOf(status, attempts)}>{String(status)}</Status>
}

export function Tag({ children, title }: { children: ComponentChildren; title?: string }) {
  return (
    <span class="tag" title={title}>
      {children}
    </span>
  )
}

/** Shown where the configuration file owns a row. */
export function Owner({ managedBy, name }: { managedBy: string; name?: string }) {
  if (managedBy !== 'config') return null
  return (
    <Tag title="This comes from gateway.config.ts. Change it there.">
      {name === undefined ? 'gateway.config.ts' : `gateway.config.ts → ${name}`}
    </Tag>
  )
}
