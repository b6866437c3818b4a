// The driver without a key, the routes of operators, and options that do not fit.
import { afterEach, describe, expect, it } from 'vitest'
import { recordingLog } from '../../support/recording-log.ts'
import { errorOf } from '../sign-in/support.ts'
import { LETTER, MAIL_ENV, type MailApi, type MailWorld, mailApi, mailWorld } from './support.ts'

let t: MailWorld | undefined
let api: MailApi | undefined
afterEach(async () => {
  await t?.close()
  await api?.close()
  t = undefined
  api = undefined
})

describe('without a key', () => {
  it('a letter is logged with its link', async () => {
    const log = recordingLog()
    t = await mailWorld(null, { ports: { log }, env: { PORT: '4321' } })
    expect(t.mail.delivers).toBe(false)
    await t.mail.send(LETTER)
    const line = () => log.lines.find(({ message }) => message === 'mail.logged')
    await t.until(() => line() !== undefined)
    expect(line()).toMatchObject({
      level: 'info',
      fields: { to: LETTER.to, subject: LETTER.subject, link: 'http://localhost:4321/verify#token=theSecretOfTheLink' },
    })
    expect(await t.state()).toMatchObject({ driver: 'log', from: null })
  })
})

describe('POST /api/mail/test', () => {
  it('sends a letter and returns what the e-mail API said', async () => {
    api = await mailApi()
    t = await mailWorld(api)
    const good = await t.post('/api/mail/test', { to: 'ops@example.org' })
    expect(await good.json()).toMatchObject({ driver: 'api', sent: true, status: 200, error: null })
    expect(api.received[0]?.body.to).toEqual(['ops@example.org'])
    api.answer = (response) => void response.writeHead(403).end('{"message":"re_secretOfTheMailApi"}')
    const bad = (await (await t.post('/api/mail/test', { to: 'ops@example.org' })).json()) as { error: string }
    expect(bad).toMatchObject({ sent: false, status: 403, error: expect.stringContaining('GATEWAY_EMAIL_API_KEY') })
    expect(bad.error).not.toContain('re_secret')
  })

  it('takes one address', async () => {
    t = await mailWorld(null)
    for (const to of [undefined, '', 'x', 'a@b,c@d', 'a@b\nBcc: c@d', ['a@b']])
      expect(await errorOf(await t.post('/api/mail/test', { to })), String(to)).toMatchObject({ status: 400, param: 'to' })
  })
})

describe('at the start', () => {
  it.each([
    ['GATEWAY_EMAIL_FROM', { EMAIL_API_KEY: 'k', PUBLIC_URL: 'https://a.example' }],
    ['GATEWAY_PUBLIC_URL', { EMAIL_API_KEY: 'k', EMAIL_FROM: 'a@b.example' }],
    ['GATEWAY_EMAIL_FROM', { ...MAIL_ENV, EMAIL_FROM: 'gateway' }],
    ['GATEWAY_EMAIL_FROM', { ...MAIL_ENV, EMAIL_FROM: 'x <a@b>\r\nBcc: c@d' }],
  ])('refuses to run without a fitting %s', async (name, env) => {
    await expect(mailWorld(null, { env })).rejects.toThrow(name)
  })

  it('refuses a metadata service as the e-mail API', async () => {
    api = await mailApi()
    t = await mailWorld(api)
    await t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: { api_url: 'http://169.254.169.254/' } }),
    })
    const tested = await t.post('/api/mail/test', { to: 'ops@example.org' })
    expect(tested.status === 200 ? ((await tested.json()) as { sent: boolean }).sent : true).toBe(api.received.length === 1)
  })
})
