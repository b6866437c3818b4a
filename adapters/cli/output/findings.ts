// Prints the findings of a check as lines for people.
import type { Finding } from '../doctor/finding.ts'
import { sign } from './symbols.ts'
import { styled } from './table.ts'

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const SIGNS = { ok: '✓', warn: '⚠', fail: '✕' } as const

export function showFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const signs = Math.max(...Object.entries(SIGNS).map(([status, glyph]) => sign(glyph, status).length))
  for (const { status, check, message, fix } of findings) {
    console.log(`${styled(sign(SIGNS[status], status).padEnd(signs), STYLES[status])}  ${check.padEnd(width)}  ${message}`)
    if (fix !== undefined) console.log(`${' '.repeat(width + signs + 4)}${styled(`${sign('→', '->')} ${fix}`, 'dim')}`)
  }
}
