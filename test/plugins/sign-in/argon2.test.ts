import { expect, it, vi } from 'vitest'
import { argon2 } from '../../../plugins/sign-in/argon2.ts'
import { hashPassword } from '../../../plugins/sign-in/password.ts'

it.each([
  ['loading it', () => argon2()],
  ['a hash', () => hashPassword('a')],
])('%s says which package is missing when Argon2 has no binary', async (_what, attempt) => {
  vi.resetModules()
  vi.doMock('@node-rs/argon2', () => {
    throw new Error('Cannot find native binding.')
  })
  await expect(attempt()).rejects.toThrow(/Install the package of your platform/)
  vi.doUnmock('@node-rs/argon2')
})
