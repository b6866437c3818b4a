// The rules of the dashboard's folders: pages stand on `ui`, `app` and `api`, and never on each other.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../dashboard')
const GENERATED = 'api/schema.d.ts'
const FILES = new Map(
  readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('dist') && file !== GENERATED)
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
)

/** Returns the static imports of a file, as paths from the dashboard's folder. */
function imports(file: string): string[] {
  const found = (FILES.get(file) as string).matchAll(/^(?:import|export)\b[^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gms)
  return [...found].map((match) => relative(ROOT, resolve(ROOT, dirname(file), (match[1] ?? match[2]) as string)))
}

const pageOf = (file: string) => /^pages\/[^/]+\//.exec(file)?.[0] ?? null

describe('the dashboard', () => {
  it('has pages that import their own folder, never another page', () => {
    expect([...FILES.keys()].filter((file) => pageOf(file) !== null).length).toBeGreaterThan(30)
    for (const file of FILES.keys())
      for (const target of imports(file)) expect([null, pageOf(file)], `${file} → ${target}`).toContain(pageOf(target))
  })

  it('takes of the gateway only its pure text functions', () => {
    for (const file of FILES.keys())
      for (const target of imports(file)) if (target.startsWith('..')) expect(target, file).toMatch(/^\.\.\/core\/text\//)
  })

  it('has no import cycle', () => {
    const done = new Set<string>()
    const visit = (file: string, path: string[]): void => {
      expect(path, 'a cycle').not.toContain(file)
      if (done.has(file)) return
      for (const target of imports(file)) if (FILES.has(target)) visit(target, [...path, file])
      done.add(file)
    }
    for (const file of FILES.keys()) visit(file, [])
  })

  it('has no file over 300 lines', () => {
    for (const [file, text] of FILES) expect(text.split('\n').length - 1, file).toBeLessThanOrEqual(300)
  })
})
