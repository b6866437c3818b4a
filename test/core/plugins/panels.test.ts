// Panels of plugins: what a panel may say, and the error at boot for one that is wrong.
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Panel } from '../../../core/types/plugin/panel.ts'

let t: TestGateway | null = null
afterEach(async () => {
  await t?.close()
  t = null
})

const STAT: Panel = {
  id: 'sums',
  title: 'Sums',
  slot: 'overview',
  view: 'stat',
  source: '/api/shop',
  fields: [{ field: 'n', title: 'N' }],
}

async function boot(...panels: unknown[]): Promise<TestGateway> {
  const shop = definePlugin({
    name: 'shop',
    setup(gateway) {
      for (const path of ['/api/shop', '/api/shop/:id', '/api/shop/:name/:id'])
        gateway.api({ method: 'GET', path, summary: 'Sums.', response: z.object({ n: z.int() }), handler: () => ({ n: 1 }) })
      for (const panel of panels) gateway.panel(panel as Panel)
    },
  })
  t = await createTestGateway({ plugins: [shop()] })
  return t
}

describe('a panel', () => {
  it('stands in GET /api/plugins with the format of each field', async () => {
    const gateway = await boot(STAT, { ...STAT, id: 'one', slot: 'key', source: '/api/shop/:id' })
    const { data } = (await (await gateway.fetch('/api/plugins')).json()) as { data: { name: string; panels: Panel[] }[] }
    const panels = data.find(({ name }) => name === 'shop')?.panels
    expect(panels).toEqual([
      { ...STAT, fields: [{ field: 'n', title: 'N', format: 'text' }] },
      { ...STAT, id: 'one', slot: 'key', source: '/api/shop/:id', fields: [{ field: 'n', title: 'N', format: 'text' }] },
    ])
  })

  it.each<[string, object | null, RegExp]>([
    ['no panel at all', null, /undefined/],
    ['an id with spaces', { ...STAT, id: 'My sums' }, /`id` must be lower-case words/],
    ['no title', { ...STAT, title: '' }, /`title`/],
    ['an unknown place', { ...STAT, slot: 'header' }, /`slot`/],
    ['an unknown view', { ...STAT, view: 'html' }, /`view`/],
    ['a member that does not exist', { ...STAT, html: '<b>' }, /html/],
    ['an unknown format', { ...STAT, fields: [{ field: 'n', title: 'N', format: 'dollars' }] }, /`fields\.0\.format`/],
    ['an address elsewhere', { ...STAT, source: 'https://evil.example/' }, /`source`/],
    ["another plugin's route", { ...STAT, source: '/api/keys' }, /no route GET \/api\/keys/],
    ['an id where nothing is shown', { ...STAT, source: '/api/shop/:id' }, /only for a request, a connection or a key/],
    ['another parameter', { ...STAT, slot: 'key', source: '/api/shop/:name/:id' }, /`:id` only/],
    ['no fields', { ...STAT, fields: [] }, /needs `fields`/],
    ['a series of one field', { ...STAT, view: 'series' }, /two fields/],
    ['too many fields', { ...STAT, fields: Array.from({ length: 21 }, () => ({ field: 'n', title: 'N' })) }, /`fields`/],
  ])('with %s refuses to start and names the plugin', async (_name, panel, why) => {
    await expect(boot(panel)).rejects.toThrow(/plugin `shop`/)
    await expect(boot(panel)).rejects.toThrow(why)
  })

  it('with the id of another refuses to start', async () => {
    await expect(boot(STAT, STAT)).rejects.toThrow(
      /`sums` of the plugin `shop` is wrong: the plugin has another panel with this id/,
    )
  })
})
