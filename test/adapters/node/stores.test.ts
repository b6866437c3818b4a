// A store that cannot be opened stops the boot and names the variable, never the address.
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'

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
