// Prints the findings of a check as lines for people.
import type { Finding } from '../doctor/finding.ts'
import { styled } from './table.ts'

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export function showFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { status, check, message, fix } of findings) {
    console.log(`${styled(status.padEnd(4), STYLES[status])}  ${check.padEnd(width)}  ${message}`)
    if (fix !== undefined) console.log(`${' '.repeat(width + 8)}${styled(`→ ${fix}`, 'dim')}`)
  }
}
