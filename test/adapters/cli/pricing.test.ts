// `hookgate pricing`: fetches the rate card now, and shows a model's price.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CardServer, cardServer, PRIMARY_CARD } from '../../support/rate-cards/card-server.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

let cards: CardServer
let cwd: string
beforeEach(async () => {
  cards = await cardServer()
  cwd = folder({})
})
afterEach(() => cards.close())

const run = (args: string[], env: Record<string, string> = {}) => {
  const urls = Object.fromEntries(
    Object.entries(cards.urls).map(([name, value]) => [`GATEWAY_${name.replace(/^GATEWAY_/, '')}`, value]),
  )
  return command(args, { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data`, GATEWAY_PRICING_SYNC_ENABLED: 'true', ...urls, ...env } })
}

describe('hookgate pricing', () => {
  it('sync fetches the rate card, show and price say what it says', async () => {
    cards.primary = { body: PRIMARY_CARD }
    const synced = await run(['pricing', 'sync', '--json'])
    expect([synced.code, JSON.parse(synced.stdout)]).toMatchObject([0, { status: 'ok', source: 'primary' }])
    expect((await run(['pricing', 'sync'])).stderr).toMatch(/models/)
    for (const words of [['pricing', 'show'], ['price']]) {
      const { code, stdout } = await run([...words, 'openai/gpt-4o', '--json'])
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { source: 'primary', prices: { input: 2.5 } }])
    }
  })

  it('sync ends with 1 where nothing could be fetched, or may not', async () => {
    cards.primary = { status: 500 }
    cards.fallback = { status: 500 }
    const failed = await run(['pricing', 'sync'])
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toMatch(/No rate card could be fetched/)
    const json = await run(['pricing', 'sync', '--json'])
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { status: 'failed' }])
    const off = await run(['pricing', 'sync'], { GATEWAY_PRICING_SYNC_ENABLED: 'false' })
    expect([off.code, off.stderr]).toEqual([1, expect.stringMatching(/switched off/)])
  })

  it('alone, or with a word that is none, is a wrong command line', async () => {
    expect((await run(['pricing'])).code).toBe(2)
    expect((await run(['pricing', 'fetch'])).code).toBe(2)
    expect((await run(['pricing', 'sync', '--now'])).code).toBe(2)
  })
})
