// The life of declared rows of gateway.config.ts: created, edited, archived, restored, adopted; the same for each section.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { sql } from '../../../core/db/sql.ts'
import { type Deployment, deployment, ENTRIES, type Section, TABLES } from './support.ts'

let site: Deployment
beforeEach(() => {
  site = deployment()
})
afterEach(() => site.end())

const file = (section: Section, entries: Record<string, unknown>): GatewayConfig => ({ [section]: entries })

for (const section of Object.keys(ENTRIES) as Section[]) {
  const { entry, edited, renamed, name } = ENTRIES[section]
  describe(section, () => {
    it('become rows owned by the file, once', async () => {
      await site.start(file(section, { a: entry }))
      const [row, ...others] = await site.rows(section)
      expect(row).toMatchObject({ config_key: 'a', managed_by: 'config', archived_at: null })
      expect(others).toEqual([])
      const t = await site.start(file(section, { a: entry }))
      expect(await site.rows(section)).toEqual([row])
      expect(await t.gateway.plan()).toEqual([])
    })

    it('an edit keeps the id, and so does another name', async () => {
      await site.start(file(section, { a: entry }))
      const [before] = await site.rows(section)
      const t = await site.start(file(section, { a: edited }))
      const [after, ...others] = await site.rows(section)
      expect(after).toMatchObject({ id: before?.id, archived_at: null })
      expect(after).not.toEqual(before)
      expect(others).toEqual([])
      expect(await t.gateway.plan()).toEqual([])
      await site.start(file(section, { a: renamed }))
      expect(await site.living(section)).toMatchObject([{ id: before?.id, config_key: 'a' }])
    })

    it('what left the file is kept and does not act; back again it is the same row', async () => {
      await site.start(file(section, { a: entry }))
      const [before] = await site.rows(section)
      await site.start({})
      expect(await site.living(section)).toEqual([])
      expect(await site.rows(section)).toMatchObject([{ id: before?.id, config_key: 'a' }])
      if (section !== 'keys') expect(site.service(section).list(null)).toEqual([])
      await site.start(file(section, { a: entry }))
      expect(await site.living(section)).toMatchObject([{ id: before?.id, managed_by: 'config' }])
      if (section !== 'keys') expect(site.service(section).list(null)).toHaveLength(1)
    })

    it('the same entry under another key is another row', async () => {
      await site.start(file(section, { a: entry }))
      await site.start(file(section, { b: entry }))
      expect(await site.rows(section)).toMatchObject([{ config_key: 'a' }, { config_key: 'b', archived_at: null }])
      expect(await site.living(section)).toHaveLength(1)
    })

    it('two entries may swap their names', async () => {
      const other = section === 'keys' ? { ...renamed, secret: 'another-client-secret-of-its-own' } : renamed
      await site.start(file(section, { a: entry, b: other }))
      const before = await site.living(section)
      await site.start(file(section, { a: other, b: entry }))
      expect((await site.living(section)).map(({ id, config_key }) => [id, config_key])).toEqual(
        before.map(({ id, config_key }) => [id, config_key]),
      )
    })

    it('a name that a row of the API has stops the boot with both, and `adopt` takes the row over', async () => {
      const t = await site.start(file(section, { a: entry }))
      await t.gateway.db?.run(sql`UPDATE ${sql.id(TABLES[section])} SET managed_by = 'api', config_key = NULL, declared = NULL`)
      const [made] = await site.rows(section)
      await expect(site.start(file(section, { a: edited }))).rejects.toThrow(
        `${section}.a: the name \`${name}\` belongs to row ${made?.id}`,
      )
      const adopted = await site.start(file(section, { a: { ...edited, adopt: true } }))
      expect(await site.rows(section)).toMatchObject([{ id: made?.id, managed_by: 'config', config_key: 'a' }])
      expect(await adopted.gateway.plan()).toEqual([])
      const later = await site.start(file(section, { a: edited }))
      expect(await site.rows(section)).toMatchObject([{ id: made?.id, managed_by: 'config' }])
      expect(await later.gateway.plan()).toEqual([])
    })

    it('a row that comes back meets one of the API that has its name by now: the boot says so', async () => {
      await site.start(file(section, { a: entry }))
      await site.start(
        file(section, { b: section === 'keys' ? { ...entry, secret: 'another-client-secret-of-its-own' } : entry }),
      )
      const t = await site.start(file(section, {}))
      await t.gateway.db?.run(
        sql`UPDATE ${sql.id(TABLES[section])} SET managed_by = 'api', config_key = NULL, archived_at = NULL WHERE config_key = 'b'`,
      )
      for (const adopt of [false, true])
        await expect(site.start(file(section, { a: { ...entry, adopt } }))).rejects.toThrow(/belongs to row \d+/)
    })

    it('a reload does what a boot does, and a wrong one changes nothing', async () => {
      const t = await site.start(file(section, { a: entry }))
      const [before] = await site.rows(section)
      const config = (entries: object) => ({ connections: { echo: { provider: 'echo' } }, [section]: entries }) as GatewayConfig
      await expect(t.gateway.reload(config({ a: { ...edited, nonsense: 1 } }))).rejects.toThrow(`${section}.a`)
      expect(await site.rows(section)).toEqual([before])
      await t.gateway.reload(config({ a: edited }))
      expect(await site.living(section)).toMatchObject([{ id: before?.id }])
      expect(await site.rows(section)).not.toEqual([before])
      await t.gateway.reload(config({}))
      expect(await site.living(section)).toEqual([])
    })
  })
}
