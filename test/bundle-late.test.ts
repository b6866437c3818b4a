// Packages whose work waits for its first use do what they do when it is done at once.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as prices from '@pydantic/genai-prices'
import { RE2JS } from 're2js'
import { expect, it } from 'vitest'
import { folder, hookgateRoot } from './adapters/cli/hookgate.ts'

const require = createRequire(import.meta.url)
const { lateExpressions, latePrices } = await import(pathToFileURL(join(hookgateRoot, 'scripts/bundle-late.mjs')).href)

/** Loads the module of a package as the bundle has it. */
async function bundled(name: string, { transform }: { transform(code: string, id: string): string | null }): Promise<unknown> {
  const path = join(dirname(require.resolve(name)), 'index.js')
  const file = join(folder({}), 'late.mjs')
  writeFileSync(file, transform(readFileSync(path, 'utf8'), path) as string)
  return import(pathToFileURL(file).href)
}

it('all models have their prices', async () => {
  const late = (await bundled('@pydantic/genai-prices', latePrices)) as typeof prices
  const timestamp = new Date('2026-01-01T00:00:00Z')
  const ids = ['anthropic', 'aws', 'azure', 'deepseek', 'google', 'mistral', 'openai', 'openrouter', 'x-ai']
  for (const providerId of ids) {
    const { models = [] } = prices.findProvider({ providerId }) ?? {}
    expect(models.length).toBeGreaterThan(3)
    for (const { id } of models)
      expect(late.calcPrice({}, id, { providerId, timestamp })).toEqual(prices.calcPrice({}, id, { providerId, timestamp }))
    expect(late.findProvider({ providerId })).toEqual(prices.findProvider({ providerId }))
  }
  expect(late.findProvider({ providerId: 'no-such' })).toBeUndefined()
})

it('expressions match the same texts, and a wrong one is refused', async () => {
  const late = (await bundled('re2js', lateExpressions)) as { RE2JS: typeof RE2JS }
  for (const [pattern, flags] of [
    ['a+b', 0],
    ['STRASSE|\\p{Greek}+', RE2JS.CASE_INSENSITIVE],
  ] as const) {
    const matcher = late.RE2JS.compile(pattern, flags).matcher('xxaab straße Straßse αβγ strasse')
    const plain = RE2JS.compile(pattern, flags).matcher('xxaab straße Straßse αβγ strasse')
    while (plain.find()) {
      expect(matcher.find()).toBe(true)
      expect([matcher.start(), matcher.end()]).toEqual([plain.start(), plain.end()])
    }
    expect(matcher.find()).toBe(false)
  }
  expect(late.RE2JS.CASE_INSENSITIVE).toBe(RE2JS.CASE_INSENSITIVE)
  expect(() => late.RE2JS.compile('a(')).toThrow(/missing/)
})
