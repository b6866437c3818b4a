// Several replicas that start with one file at the same time, over one database: one row for each entry.
import { describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { SITES, type Site } from '../../support/sites.ts'
import { ask, bearer } from '../keys/support.ts'
import { ENTRIES, SECRET, type Section, TABLES, witness } from './support.ts'

/** No request is served without a client key. */
async function withKeys(open: () => Promise<Site>): Promise<Site> {
  const site = await open()
  return { ...site, env: { ...site.env, REQUIRE_API_KEY: 'true' } }
}

const SECTIONS = Object.keys(TABLES) as Section[]
const file = (which: 'entry' | 'edited' | 'renamed'): GatewayConfig => ({
  connections: { echo: { provider: 'echo' } },
  ...Object.fromEntries(SECTIONS.map((section) => [section, { a: ENTRIES[section][which] }])),
})

for (const [name, why, open] of SITES) {
  describe.skipIf(why !== null)(`replicas over ${name}`, () => {
    it('end with one row for each entry, whether they start, change or take away together', async () => {
      const site = await withKeys(open)
      try {
        // The first one creates the tables.
        await (await createTestGateway({ env: site.env })).close()
        const together = async (config: GatewayConfig) => {
          const seen = witness()
          const replicas = await Promise.all(
            [0, 1, 2].map((index) => createTestGateway({ config, env: site.env, plugins: index === 0 ? [seen.plugin] : [] })),
          )
          const [first] = replicas as [TestGateway]
          const rows = Object.fromEntries(
            await Promise.all(
              SECTIONS.map(async (section) => [
                section,
                await first.gateway.db?.all(
                  sql`SELECT id, archived_at, managed_by FROM ${sql.id(TABLES[section])} WHERE config_key IS NOT NULL`,
                ),
              ]),
            ),
          ) as Record<Section, { id: number; archived_at: number | null }[]>
          expect(await first.gateway.plan()).toEqual([])
          const models = seen.service('virtualModels').list(null).length
          for (const replica of replicas) await replica.close()
          return { rows, models }
        }
        const made = await together(file('entry'))
        for (const section of SECTIONS) expect(made.rows[section], section).toHaveLength(1)
        expect(made.models).toBe(1)
        const ids = SECTIONS.map((section) => made.rows[section][0]?.id)
        for (const which of ['edited', 'renamed'] as const) {
          const { rows } = await together(file(which))
          expect(SECTIONS.flatMap((section) => rows[section].map(({ id }) => id))).toEqual(ids)
        }
        const gone = await together({ connections: { echo: { provider: 'echo' } } })
        expect(gone.models).toBe(0)
        for (const section of SECTIONS) expect(gone.rows[section], section).toMatchObject([{ archived_at: expect.any(Number) }])
        const back = await together(file('entry'))
        expect(SECTIONS.flatMap((section) => back.rows[section].map(({ id, archived_at }) => [id, archived_at]))).toEqual(
          ids.map((id) => [id, null]),
        )
      } finally {
        await site.end()
      }
    })

    it('shows what another one has made of the file meanwhile, before it serves', async () => {
      const site = await withKeys(open)
      const env = site.env
      let other: TestGateway | null = null
      const meanwhile = definePlugin({
        name: 'meanwhile',
        // Every other plugin has loaded its rows by now.
        async setup() {
          other = await createTestGateway({ config: file('entry'), env })
        },
      })
      const seen = witness()
      const t = await createTestGateway({ config: file('entry'), env, plugins: [seen.plugin, meanwhile()] })
      try {
        for (const token of ['virtualModels', 'budgets', 'webhooks'] as const)
          expect(seen.service(token).list(null), token).toHaveLength(1)
        expect((await t.post('/v1/chat/completions', ask('echo/echo-1'), bearer(SECRET))).status).toBe(200)
      } finally {
        await (other as TestGateway | null)?.close()
        await t.close()
        await site.end()
      }
    })
  })
}
