// A store that cannot be opened stops the boot and names the variable, never the address.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { folder } from '../cli/hookgate.ts'

it('a database that cannot be reached is the fault of GATEWAY_DATABASE_URL', async () => {
  const env = {
    GATEWAY_DATABASE_URL: 'postgres://user:hidden-password@127.0.0.1:1/none',
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const failure = await createGateway({}, { env }).catch((error: Error) => error)
  expect(failure).toBeInstanceOf(Error)
  const { message } = failure as Error
  expect(message).toMatch(/^GATEWAY_DATABASE_URL: .*PostgreSQL cannot be reached/)
  expect(message).not.toMatch(/hidden-password|127\.0\.0\.1/)
})

it('a data directory that cannot be one is the fault of GATEWAY_DATA_DIR', async () => {
  const file = join(folder({}), 'a-file')
  writeFileSync(file, '')
  await expect(createGateway({}, { env: { GATEWAY_DATA_DIR: file } })).rejects.toThrow(/^GATEWAY_DATA_DIR: .*\(EEXIST\); check/)
})

it('a database of a newer version stops the boot; GATEWAY_ALLOW_NEWER starts on it all the same', async () => {
  const env = { GATEWAY_DATA_DIR: folder({}) }
  const start = async (more: Record<string, string> = {}) => {
    const gateway = await createGateway({}, { env: { ...env, ...more }, log: silentLog })
    await gateway.close()
  }
  await start()
  const file = new Database(join(env.GATEWAY_DATA_DIR, 'gateway.db'))
  file.exec(
    "INSERT INTO gateway_migrations (plugin, id, checksum, applied_at) SELECT plugin, '999-later', checksum, applied_at FROM gateway_migrations WHERE plugin = 'keys' LIMIT 1",
  )
  file.close()
  await expect(start()).rejects.toThrow(/^This database belongs to a newer version: `keys`.*--allow-newer/)
  await start({ GATEWAY_ALLOW_NEWER: 'true' })
})

const missing = await whyNoPostgres()
it.skipIf(missing !== null)(`so is one that is not there${missing === null ? '' : ` (skipped: ${missing})`}`, async () => {
  const postgres = await testPostgres()
  await postgres.drop()
  const env = { GATEWAY_DATABASE_URL: postgres.url, GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') }
  await expect(createGateway({}, { env })).rejects.toThrow(/^GATEWAY_DATABASE_URL: .*PostgreSQL has no database of this name\.$/)
})
