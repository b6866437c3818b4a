// hookgate doctor in multi-tenant mode: it says which walls stand between organizations.
import { describe, expect, it } from 'vitest'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { doctor, finding } from './doctor-findings.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const noPostgres = await whyNoPostgres()
const TENANTS = { GATEWAY_MULTI_TENANT: 'true' }

describe('hookgate doctor with several organizations', () => {
  it('warns that SQLite hides no rows by itself', async () => {
    const dir = folder({})
    await command(['db', 'migrate'], { cwd: folder({}), env: { GATEWAY_DATA_DIR: dir } })
    const { of } = await doctor(TENANTS, {}, dir)
    expect(of('organizations')).toEqual([finding('warn', /Only conditions in statements/)])
    // Every data-plane call of a gateway with tenants needs a key, without another variable.
    const cloud = await doctor({ ...TENANTS, GATEWAY_HOST: '0.0.0.0' }, {}, dir)
    expect(cloud.of('network')).toEqual([finding('ok', /needs a client key/)])
    const alone = await doctor({}, {}, dir)
    expect(alone.of('organizations')).toEqual([])
  })

  it.skipIf(noPostgres !== null)(`says that PostgreSQL does${noPostgres === null ? '' : ` (${noPostgres})`}`, async () => {
    const server = await testPostgres()
    try {
      const dir = folder({})
      const env = { GATEWAY_DATABASE_URL: server.url, ...TENANTS }
      await command(['db', 'migrate'], { cwd: folder({}), env: { GATEWAY_DATA_DIR: dir, ...env } })
      const { of } = await doctor(env, {}, dir)
      expect(of('organizations')).toEqual([finding('ok', /row-level security/)])
    } finally {
      await server.drop()
    }
  })
})
