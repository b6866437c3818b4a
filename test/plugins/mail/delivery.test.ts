// Letters on their way: outbox, e-mail API, retries, the end of retries.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sql } from '../../../core/db/sql.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { LETTER, MAIL_ENV, type MailApi, type MailWorld, mailApi, mailWorld, type Received } from './support.ts'

const HOUR = 3_600_000

describe('letters', () => {
  let api: MailApi
  let t: MailWorld | undefined
  beforeEach(async () => {
    api = await mailApi()
  })
  afterEach(async () => {
    await t?.close()
    t = undefined
    await api.close()
  })

  it('reach the e-mail API as text and HTML, with the link below the public address and an idempotency key', async () => {
    t = await mailWorld(api)
    expect(t.mail.delivers).toBe(true)
    await t.mail.send(LETTER)
    await t.until(() => api.received.length === 1)
    const { headers, body } = api.received[0] as Received
    const link = 'https://llm.example.com/gw/verify#token=theSecretOfTheLink'
    expect(headers).toMatchObject({ authorization: 'Bearer re_secretOfTheMailApi', 'content-type': 'application/json' })
    expect(headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/)
    expect(body).toMatchObject({ from: MAIL_ENV.EMAIL_FROM, to: [LETTER.to], subject: LETTER.subject })
    expect(body).toMatchObject({ text: expect.stringContaining(link), html: expect.stringContaining(`href="${link}"`) })
    await t.until(async () => (await (t as MailWorld).state()).sent_24h === 1)
    expect(await t.state()).toMatchObject({ driver: 'api', waiting: 0, failures: [] })
  })

  it('are sealed while they wait, and leave only facts when they are finished', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-mail-'))
    const db = await openDatabase(`sqlite:${join(dir, 'g.db')}`, '.')
    t = await mailWorld(api, { ports: { db } })
    api.answer = (response) => void response.writeHead(500).end()
    await t.mail.send(LETTER)
    await t.until(async () => (await (t as MailWorld).state()).failures[0]?.attempts === 1)
    const rows = async () => JSON.stringify(await db.all(sql`SELECT * FROM mail_outbox`))
    for (const secret of ['theSecretOfTheLink', 'ada@', 'Welcome']) expect(await rows()).not.toContain(secret)
    api.answer = (response) => void response.writeHead(200).end()
    await t.until(async () => (await (t as MailWorld).state()).sent_24h === 1, 30_000)
    expect(await db.all(sql`SELECT letter, status FROM mail_outbox`)).toEqual([{ letter: null, status: 'sent' }])
    await t.close()
    await db.close()
    rmSync(dir, { recursive: true })
  })

  it('are tried eight times within a day, then given up with a log line and a fact for the operator', async () => {
    const log = recordingLog()
    t = await mailWorld(api, { ports: { log } })
    api.answer = (response) => void response.writeHead(503).end('overloaded: theSecretOfTheLink')
    const began = t.clock.now()
    await t.mail.send(LETTER)
    const world = t
    await t.until(async () => (await world.state()).failures.length === 1)
    for (let tries = 2; tries <= 8; tries++) {
      await t.nextAttempt()
      expect(api.received).toHaveLength(tries)
    }
    expect((await t.state()).dead_24h).toBe(1)
    expect(t.clock.now() - began).toBeLessThan(26 * HOUR)
    t.clock.jump(30 * HOUR)
    await t.clock.advance(60_000)
    expect(api.received).toHaveLength(8)
    expect(new Set(api.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    const { failures } = await t.state()
    expect(failures).toMatchObject([{ kind: 'verify', state: 'dead', attempts: 8, status: 503, to_domain: 'example.org' }])
    const dead = log.lines.filter(({ message }) => message === 'mail.dead')
    expect(dead).toHaveLength(1)
    for (const shown of [JSON.stringify(failures), JSON.stringify(log.lines)])
      for (const secret of ['theSecretOfTheLink', 'ada@', 're_secret']) expect(shown).not.toContain(secret)
  })

  it('tell the operator while they fail', async () => {
    t = await mailWorld(api)
    const attention = async (): Promise<string[]> =>
      ((await (await (t as MailWorld).fetch('/api/attention')).json()) as { data: { kind: string }[] }).data.map(
        ({ kind }) => kind,
      )
    api.answer = (response) => void response.writeHead(401).end()
    await t.mail.send(LETTER)
    const world = t
    await t.until(async () => (await world.state()).failures.length === 1)
    expect(await attention()).toContain('mail_failing')
    api.answer = (response) => void response.writeHead(422).end()
    await t.nextAttempt()
    expect(await attention()).toContain('mail_dead')
  })

  it.each([400, 405, 413, 422])('that the API refuses with %i are dead at once', async (status) => {
    t = await mailWorld(api)
    api.answer = (response) => void response.writeHead(status).end()
    await t.mail.send(LETTER)
    const world = t
    await t.until(async () => (await world.state()).dead_24h === 1)
    t.clock.jump(2 * HOUR)
    await t.clock.advance(60_000)
    expect(api.received).toHaveLength(1)
  })

  it.each([302, 401, 403, 404, 408, 429, 500])('that the API refuses with %i wait', async (status) => {
    t = await mailWorld(api)
    api.answer = (response) => void response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
    await t.mail.send(LETTER)
    const world = t
    await t.until(async () => (await world.state()).failures[0]?.status === status)
    api.answer = (response) => void response.writeHead(202).end()
    await t.until(async () => (await world.state()).sent_24h === 1, 10_000)
    expect(api.received).toHaveLength(2)
  })

  it('all wait as long as the API asks', async () => {
    t = await mailWorld(api)
    api.answer = (response) => void response.writeHead(429, { 'retry-after': '120' }).end()
    await t.mail.send(LETTER)
    const world = t
    await t.until(async () => (await world.state()).failures.length === 1)
    api.answer = (response) => void response.writeHead(200).end()
    await t.mail.send({ ...LETTER, kind: 'reset' })
    await t.clock.advance(119_000)
    expect(api.received).toHaveLength(1)
    await t.until(() => api.received.length === 3, 500)
  })

  it('outlive the process that stored them', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-mail-'))
    const env = { DATA_DIR: dir, MASTER_KEY: randomBytes(32).toString('hex') }
    t = await mailWorld(api, { env })
    api.answer = (response) => void response.socket?.destroy()
    await t.mail.send(LETTER)
    await t.until(() => api.received.length === 1)
    await t.close()
    api.answer = (response) => void response.writeHead(200).end()
    t = await mailWorld(api, { env })
    await t.until(() => api.received.length === 2, 20_000)
    await t.close()
    rmSync(dir, { recursive: true })
  })

  it('never fail their sender, also without a database or with a senseless address', async () => {
    t = await mailWorld(api)
    for (const to of ['', 'a', 'a@b, c@d', 'a@b\r\nBcc: c@d', 'Ada <a@b>', 'a@b\u202e.com', `${'a'.repeat(400)}@b`])
      await t.mail.send({ ...LETTER, to })
    expect((await t.state()).waiting).toBe(0)
    expect(api.received).toEqual([])
  })

  it('to a slow API do not hold the gateway open', async () => {
    t = await mailWorld(api)
    api.answer = () => {}
    await t.mail.send(LETTER)
    await t.until(() => api.received.length === 1)
    const before = performance.now()
    await t.close()
    expect(performance.now() - before).toBeLessThan(3000)
  })
})
