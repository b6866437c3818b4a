import { describe, expect, it } from 'vitest'
import { migrations } from '../../../plugins/proxy-pools/migrations.ts'
import {
  allAssignments,
  allPools,
  assign,
  deletePool,
  insertPool,
  storeTest,
  storeUrl,
  updatePool,
} from '../../../plugins/proxy-pools/store.ts'
import { ENGINES } from '../../support/engines.ts'

const fields = { name: 'exit', no_proxy: 'a.test', enabled: true, strict: false }
const verdict = { ok: true, latency_ms: 12, ip: '203.0.113.7', at: '2026-01-01T00:00:00.000Z', error: null }

describe.each(ENGINES)('$name', ({ missing, with: engine }) => {
  it.skipIf(missing)('rows change within their organization only', () =>
    engine('proxy-pools', migrations, async (db) => {
      const mine = await insertPool(db, null, fields, 1)
      const theirs = await insertPool(db, 7, { ...fields, name: 'theirs' }, 1)
      await storeUrl(db, null, mine, 'sealed')
      await storeTest(db, null, mine, verdict)
      await updatePool(db, null, theirs, { ...fields, name: 'taken' }, 2)
      await storeUrl(db, null, theirs, 'taken')
      await storeTest(db, null, theirs, verdict)
      await deletePool(db, null, theirs)
      await updatePool(db, null, mine, { ...fields, enabled: false, strict: true }, 3)
      expect(await allPools(db)).toMatchObject([
        { id: mine, org_id: 0, enabled: false, strict: true, proxy_url: 'sealed', last_test: verdict, updated_at: 3 },
        { id: theirs, org_id: 7, name: 'theirs', proxy_url: null, last_test: null, updated_at: 1 },
      ])
      await assign(db, null, 4, mine)
      await assign(db, null, 5, mine)
      await assign(db, null, 5, null)
      await assign(db, 7, 6, theirs)
      await assign(db, null, 6, null)
      expect(await allAssignments(db)).toEqual([
        { connection_id: 4, org_id: 0, pool_id: mine },
        { connection_id: 6, org_id: 7, pool_id: theirs },
      ])
      await deletePool(db, null, mine)
      expect(await allAssignments(db)).toHaveLength(1)
      expect(await allPools(db)).toHaveLength(1)
    }),
  )
})
