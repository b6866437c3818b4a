// Members: invitations, roles, removal, ownership, switching.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { type JumpingClock, jumpingClock } from '../sign-in/support.ts'
import { as, logIn, openTenants, postbox, type Session, signUp } from './support.ts'

let t: TestGateway
let clock: JumpingClock
const post = postbox()
let owner: Session
let member: Session
beforeAll(async () => {
  clock = jumpingClock()
  t = await openTenants({ ports: { clock }, plugins: [post.plugin] })
  owner = await signUp(t, 'owner@acme.example', { org_name: 'Acme' })
  member = await join('member@acme.example', 'member')
})
afterAll(() => t.close())

const invite = (email: string, role?: string, by = owner) =>
  as(t, by)<{ id: number; error: { code: string } }>('POST', '/api/orgs/members', { email, role })

async function join(email: string, role: string): Promise<Session> {
  const person = await signUp(t, email)
  expect((await invite(email, role)).status).toBe(201)
  const { token } = await post.letter('invitation', email)
  const joined = await as(t, person)<Session>('POST', '/api/orgs/invitations/accept', { token })
  expect(joined.status).toBe(200)
  return joined.body
}
const me = async (session: Session) =>
  (await as(t, session)('GET', '/api/auth/me')).body as { orgs: { id: number; role: string }[] }

describe('an invitation', () => {
  it('brings its reader into the organization, with the role of the invitation', async () => {
    expect(member).toMatchObject({ org: owner.org, role: 'member' })
    expect((await as(t, member)('GET', '/api/orgs/members')).body).toMatchObject({
      data: [
        { user_id: owner.user.id, role: 'owner' },
        { user_id: member.user.id, role: 'member' },
      ],
    })
    expect((await me(member)).orgs).toHaveLength(2)
  })

  it('answers alike for known and unknown addresses, without a token', async () => {
    await signUp(t, 'known@else.example')
    const answers = [await invite('known@else.example'), await invite('unknown@else.example')]
    expect(answers.map(({ status, body }) => [status, Object.keys(body)])).toEqual([
      [201, ['id', 'email', 'role', 'invited_by', 'created_at', 'expires_at']],
      [201, ['id', 'email', 'role', 'invited_by', 'created_at', 'expires_at']],
    ])
  })

  it('works once, for its address only, and not when it is revoked, replaced or 7 days old', async () => {
    const accept = async (session: Session, token: string) =>
      (await as(t, session)('POST', '/api/orgs/invitations/accept', { token })).status
    const ivy = await signUp(t, 'ivy@acme.example')
    const other = await signUp(t, 'other@acme.example')
    await invite('ivy@acme.example')
    const replaced = await post.letter('invitation', 'ivy@acme.example')
    const { body } = await invite('ivy@acme.example', 'admin')
    const revoked = await post.letter('invitation', 'ivy@acme.example')
    expect(await accept(ivy, replaced.token)).toBe(400)
    expect(await accept(other, revoked.token)).toBe(400)
    expect((await as(t, owner)('GET', '/api/orgs/invitations')).body).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: body.id, role: 'admin' })]),
    })
    expect((await as(t, other)('DELETE', `/api/orgs/invitations/${body.id}`)).status).toBe(404)
    expect((await as(t, owner)('DELETE', `/api/orgs/invitations/${body.id}`)).status).toBe(200)
    expect(await accept(ivy, revoked.token)).toBe(400)
    await invite('ivy@acme.example')
    const good = await post.letter('invitation', 'ivy@acme.example')
    expect(await accept(ivy, good.token)).toBe(200)
    expect(await accept(ivy, good.token)).toBe(400)
    await invite('late@acme.example')
    const late = await post.letter('invitation', 'late@acme.example')
    clock.jump(7 * 86_400_000)
    owner = await logIn(t, 'owner@acme.example')
    member = await switched('member@acme.example')
    const reader = await signUp(t, 'late@acme.example')
    expect(await accept(reader, late.token)).toBe(400)
  })

  it('is for administrators to send, and not for owners', async () => {
    expect((await invite('x@acme.example', 'member', member)).status).toBe(403)
    expect((await invite('x@acme.example', 'owner')).status).toBe(400)
    expect((await invite('member@acme.example')).body.error.code).toBe('already_exists')
  })
})

async function switched(email: string): Promise<Session> {
  const session = await logIn(t, email)
  return (await as(t, session)<Session>('POST', '/api/auth/switch', { org_id: owner.org?.id })).body
}

describe('a role', () => {
  it('applies to the sessions that are there', async () => {
    const call = as(t, member)
    expect((await call('POST', '/api/keys', { label: 'no' })).status).toBe(403)
    expect((await as(t, owner)('PATCH', `/api/orgs/members/${member.user.id}`, { role: 'admin' })).status).toBe(200)
    expect((await call('POST', '/api/keys', { label: 'yes' })).status).toBe(201)
    expect((await call('DELETE', '/api/orgs/current', { confirm: 'Acme' })).status).toBe(403)
    await as(t, owner)('PATCH', `/api/orgs/members/${member.user.id}`, { role: 'member' })
    expect((await call('POST', '/api/keys', { label: 'no' })).status).toBe(403)
  })

  it('is never above that of the person in a management token, and the token ends with the membership', async () => {
    const admin = await join('admin@acme.example', 'admin')
    const { token } = (await as(t, admin)<{ token: string }>('POST', '/api/tokens', { label: 'ci' })).body
    expect((await as(t, { token })('POST', '/api/keys', { label: 'by token' })).status).toBe(201)
    // A session names all organizations of the person, a token its own.
    const shown = async (credential: string) =>
      (await as(t, { token: credential })<{ orgs: { id: number }[] }>('GET', '/api/auth/me')).body.orgs.map(({ id }) => id)
    expect(await shown(admin.token)).toHaveLength(2)
    expect(await shown(token)).toEqual([admin.org?.id])
    await as(t, owner)('PATCH', `/api/orgs/members/${admin.user.id}`, { role: 'member' })
    expect((await as(t, { token })('POST', '/api/keys', { label: 'by token' })).status).toBe(403)
    expect((await as(t, { token })('GET', '/api/keys')).status).toBe(200)
    await as(t, owner)('DELETE', `/api/orgs/members/${admin.user.id}`)
    expect((await as(t, { token })('GET', '/api/keys')).status).toBe(401)
    expect((await as(t, admin)('GET', '/api/auth/me')).status).toBe(401)
  })
})

describe('the owner', () => {
  it('cannot be removed or lowered, and cannot leave', async () => {
    expect((await as(t, owner)('PATCH', `/api/orgs/members/${owner.user.id}`, { role: 'member' })).status).toBe(409)
    expect((await as(t, owner)('DELETE', `/api/orgs/members/${owner.user.id}`)).status).toBe(409)
    expect((await as(t, owner)('POST', '/api/orgs/leave')).status).toBe(409)
    expect((await as(t, owner)('DELETE', '/api/auth/me')).status).toBe(409)
  })

  it('hands the organization over, and is an administrator then', async () => {
    expect((await as(t, member)('POST', '/api/orgs/transfer', { user_id: member.user.id })).status).toBe(403)
    expect((await as(t, owner)('POST', '/api/orgs/transfer', { user_id: member.user.id })).body).toMatchObject({ role: 'owner' })
    expect((await as(t, owner)('GET', '/api/auth/me')).body).toMatchObject({ role: 'manage' })
    expect((await as(t, member)('GET', '/api/auth/me')).body).toMatchObject({ role: 'owner' })
    expect((await as(t, member)('POST', '/api/orgs/transfer', { user_id: owner.user.id })).status).toBe(200)
  })
})

describe('a stranger', () => {
  it('sees no organization and no member of another one', async () => {
    const mallory = await signUp(t, 'mallory@evil.example')
    const call = as(t, mallory)
    const foreign = await call('DELETE', `/api/orgs/members/${member.user.id}`)
    const unknown = await call('DELETE', '/api/orgs/members/999999')
    expect([foreign.status, unknown.status]).toEqual([404, 404])
    expect((await call('POST', '/api/auth/switch', { org_id: owner.org?.id })).status).toBe(404)
    expect((await call('POST', '/api/auth/switch', { org_id: 999999 })).status).toBe(404)
    expect((await call('POST', '/api/auth/switch', { org_id: null })).status).toBe(404)
    for (const path of ['/api/orgs', '/api/users', '/api/config/plan']) expect((await call('GET', path)).status, path).toBe(403)
  })
})

describe('sessions', () => {
  it('all end together', async () => {
    const first = await logIn(t, 'mallory@evil.example')
    const second = await logIn(t, 'mallory@evil.example')
    expect((await as(t, first)('DELETE', '/api/auth/sessions')).status).toBe(200)
    expect((await as(t, second)('GET', '/api/auth/me')).status).toBe(401)
  })

  it('end with a new password, all but the one that asked for it', async () => {
    const first = await logIn(t, 'mallory@evil.example')
    const asking = await logIn(t, 'mallory@evil.example')
    const wrong = await as(t, asking)('POST', '/api/auth/password', { current: 'nope', password: 'new password 1' })
    expect(wrong.status).toBe(401)
    const made = await as(t, asking)<Session>('POST', '/api/auth/password', {
      current: 'correct horse battery staple',
      password: 'new password 1',
    })
    expect((await as(t, first)('GET', '/api/auth/me')).status).toBe(401)
    expect((await as(t, made.body)('GET', '/api/auth/me')).status).toBe(200)
  })
})
