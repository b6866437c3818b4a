// What sign-in refuses at boot, and the hashes it makes and takes.
import { hash } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { hashPassword } from '../../../plugins/sign-in/password.ts'
import { openGateway, PASSWORD } from './support.ts'

const boot = async (env: Record<string, string>): Promise<string> => {
  try {
    const t = await openGateway({ env })
    await t.close()
    return 'booted'
  } catch (error) {
    return (error as Error).message
  }
}

const SALT = 'c2FsdHNhbHRzYWx0'
const DIGEST = 'aGFzaGhhc2hoYXNoaGFzaA'

describe('GATEWAY_DASHBOARD_PASSWORD_HASH', () => {
  const refused: [string, string][] = [
    ['4 GiB of memory', `$argon2id$v=19$m=4194304,t=2,p=1$${SALT}$${DIGEST}`],
    ['one KiB more than 256 MiB', `$argon2id$v=19$m=262145,t=2,p=1$${SALT}$${DIGEST}`],
    ['the most memory that can be written', `$argon2id$v=19$m=4294967295,t=1,p=1$${SALT}$${DIGEST}`],
    ['eleven passes', `$argon2i$v=19$m=1024,t=11,p=1$${SALT}$${DIGEST}`],
    ['nine lanes', `$argon2d$v=19$m=1024,t=1,p=9$${SALT}$${DIGEST}`],
    ['less memory than its lanes need', `$argon2id$v=19$m=8,t=1,p=8$${SALT}$${DIGEST}`],
    ['a salt of four bytes', `$argon2id$v=19$m=1024,t=1,p=1$c2FsdA$${DIGEST}`],
    ['another algorithm', '$2b$12$abcdefghijklmnopqrstuvABCDEFGHIJKLMNOPQRSTUVABCDEFGHI'],
    ['a plain password', 'hunter2'],
    ['what a shell left of one', '=19=19456,t=2,p=1'],
    ['no digest', `$argon2id$v=19$m=1024,t=1,p=1$${SALT}`],
    ['words for numbers', `$argon2id$v=19$m=much,t=1,p=1$${SALT}$${DIGEST}`],
    ['negative numbers', `$argon2id$v=19$m=-1024,t=1,p=1$${SALT}$${DIGEST}`],
  ]
  it.each(refused)('with %s is a boot error that names the variable and not the value', async (_, value) => {
    const message = await boot({ DASHBOARD_PASSWORD_HASH: value })
    expect(message).toContain('GATEWAY_DASHBOARD_PASSWORD_HASH')
    expect(message).toContain('hookgate password hash')
    expect(message).not.toContain(value)
  })

  it.each([0, 1, 2])('takes every variant of Argon2 (%i)', async (algorithm) => {
    const value = await hash(PASSWORD, { algorithm, memoryCost: 64, timeCost: 1, parallelism: 2 })
    const t = await openGateway({ env: { DASHBOARD_PASSWORD_HASH: value } })
    expect((await t.post('/api/login', { password: 'nope' })).status).toBe(401)
    expect((await t.post('/api/login', { password: PASSWORD })).status).toBe(200)
    await t.close()
  })

  it('is what hashPassword makes: Argon2id, another salt every time', async () => {
    const made = await hashPassword(PASSWORD)
    expect(made).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await hashPassword(PASSWORD)).not.toBe(made)
    expect(await boot({ DASHBOARD_PASSWORD_HASH: made })).toBe('booted')
  })
})

describe('GATEWAY_JWT_SECRET', () => {
  const refused: [string, string][] = [
    ['31 bytes', 'kd83Hs0qLmZ1vTfW7cXpRy2uJbNa6Ge'],
    ['one letter many times', 'x'.repeat(64)],
    ['one word many times', 'secret'.repeat(10)],
    ['change me', 'please-change-me-0123456789-abcdefgh'],
    ['a placeholder', 'your-secret-key-goes-in-here-0123456789'],
    ['an example', 'this-is-an-example-of-a-jwt-key-0123456789'],
  ]
  it.each(refused)('of %s is a boot error that names the variable and not the value', async (_, value) => {
    const message = await boot({ JWT_SECRET: value })
    expect(message).toContain('GATEWAY_JWT_SECRET')
    expect(message).not.toContain(value)
  })

  it('of 32 random bytes is taken', async () => {
    expect(await boot({ JWT_SECRET: 'kd83Hs0qLmZ1vTfW7cXpRy2uJbNa6Ge4' })).toBe('booted')
  })
})
