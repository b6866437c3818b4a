// docs/conformance.md has two parts, each written by the tests that measure it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'vitest'

const DOCUMENT = resolve(import.meta.dirname, '../../docs/conformance.md')
/** First line of the second part. */
export const OPERATIONS_HEADING = '## Operations'

/** Replaces one part. In CI the committed document must have it already. */
export function writePart(part: 'dialects' | 'operations', text: string): void {
  const written = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, 'utf8') : ''
  const at = written.indexOf(`\n${OPERATIONS_HEADING}\n`)
  const [dialects, operations] = at === -1 ? [written, ''] : [written.slice(0, at), written.slice(at)]
  const now = part === 'dialects' ? text + operations : `${dialects}\n${text}`
  if (now !== written) writeFileSync(DOCUMENT, now)
  if (process.env.CI) expect(written, 'the committed document is stale; commit the one just written').toBe(now)
}
