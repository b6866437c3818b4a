// No upstream error carries our credential, our paths or its stack to the client or into the outcome.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { broken, fail, RENDERERS, raw, reset, type Step } from '../../adapters/testing/index.ts'
import { type Accounts, accounts, DIALECTS } from './support/accounts.ts'
import { cells } from './support/cells.ts'
import { envelopeOf } from './support/envelope.ts'
import { type Cell, framesOf, nameOf, pairs } from './support/faults.ts'
import { pathAndBody } from './support/wire.ts'

const count = cells('secrets')
const SECRET = 'sk-faulty-account'
/** In a header of the connection. */
const TOKEN = 'tok-in-a-header'
/** In a header whose name does not indicate a credential. */
const OPAQUE = 'zq81opaque-value-of-77-a-header'
const SSE = { contentType: 'text/event-stream' }
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '')
const SPELLINGS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => secret.toUpperCase(),
  (secret) => encodeURIComponent(secret).replaceAll('-', '%2d'),
  (secret) => Array.from(secret, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
  base64,
  (secret) => Buffer.from(secret).toString('hex'),
  (secret) => base64(`x${secret}`).slice(2),
  (secret) => base64(`xy${secret}`).slice(3),
]
let at: Accounts
beforeAll(async () => {
  at = await accounts({
    env: { UPSTREAM_POOL_MAX_IDLE_PER_HOST: '0' },
    connection: { headers: { 'x-proxy-authorization': `Bearer ${TOKEN}`, 'x-team': 'visible-team', 'x-route': OPAQUE } },
  })
})
afterAll(() => at.close())

const LEAKY = [
  `Incorrect API key provided: ${SECRET}. See the dashboard.`,
  'ENOENT: no such file, open /home/vendor/app/models.json',
  'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in <module>\nValueError: boom',
  `Header authorization: Bearer ${SECRET} refused at file:///opt/vendor/server.js:10:5`,
  `The token ${TOKEN} has expired.`,
  // Shortened by the upstream, with more text behind it.
  `Key ${SECRET.slice(0, -1)}... refused.`,
  'x'.repeat(5000),
]

async function ask(cell: Cell, step: Step): Promise<{ status: number; text: string }> {
  at.bad.script(step, step)
  const { path, body } = pathAndBody(cell.caller, `all-${cell.upstream}/m`, cell.stream)
  const settled = at.t.settled.length
  const response = await fetch(`${at.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  const text = await response.text()
  await at.t.untilSettled(settled + 1)
  const { ctx, outcome } = at.t.settled.at(-1)!
  for (const said of [text, outcome.error?.message ?? '', ...ctx.attempts.map(({ error }) => error?.message ?? '')]) clean(said)
  return { status: response.status, text }
}

function clean(text: string): void {
  expect(text).not.toContain(SECRET)
  expect(text).not.toContain(TOKEN)
  expect(text).not.toContain(SECRET.slice(0, 12))
  expect(text).not.toMatch(/\/home\/|\/srv\/|\/opt\/|File \\?"|ValueError/)
  expect(text.length).toBeLessThan(20_000)
}

describe('an upstream’s error', () => {
  it.each([400, 401, 403, 404, 422, 429, 500, 503])('%i', async (status) => {
    for (const cell of pairs({})) {
      await count.run(String(status), nameOf(cell), async () => {
        for (const message of LEAKY) {
          const answer = await ask(cell, fail(status, { message }))
          const error = envelopeOf(cell.caller, answer.text)
          expect(answer.status).not.toBe(401)
          if (status === 401 || status === 403) expect([answer.status, error.code]).toEqual([502, 'upstream_error'])
        }
      })
    }
  })

  it('in another form: text, HTML, an unknown object', async () => {
    for (const cell of pairs({ upstreams: ['chat', 'messages'] })) {
      await count.run('forms', nameOf(cell), async () => {
        for (const message of LEAKY)
          for (const body of [
            message,
            `<html><title>${message}</title></html>`,
            JSON.stringify({ detail: message }),
            JSON.stringify({ whatever: message }),
          ])
            envelopeOf(cell.caller, (await ask(cell, raw(500, body, { contentType: 'text/plain' }))).text)
      })
    }
  })

  it('names what is no credential', async () => {
    const answer = await ask(pairs({})[0]!, fail(400, { message: 'The team visible-team has no such model.' }))
    expect(answer.text).toContain('visible-team')
  })

  it('inside 200, and inside a started stream', async () => {
    for (const cell of pairs({})) {
      await count.run('200', nameOf(cell), async () => {
        for (const message of LEAKY.slice(0, -1)) {
          if (!cell.stream) {
            await ask(cell, raw(200, JSON.stringify(RENDERERS[cell.upstream].error(500, message))))
            continue
          }
          const after = framesOf(cell.upstream).head.length + 2
          const { status, text } = await ask(cell, broken({ text: 'fine, thank you' }, after, { message, status: 500 }))
          expect([status, text]).toEqual([200, expect.stringContaining('error')])
        }
      })
    }
  })

  it('in its code, type and param, whatever spelling of a secret it is', async () => {
    for (const cell of pairs({ upstreams: ['chat', 'messages', 'responses', 'generate_content'] })) {
      await count.run('members', nameOf(cell), async () => {
        for (const secret of [SECRET, TOKEN, OPAQUE])
          for (const spell of SPELLINGS) {
            const said = `bad ${spell(secret)} here`
            const error = { message: said, code: said, type: said, param: said, status: said }
            for (const status of [400, 429, 500]) {
              const step = cell.stream && status === 500 ? raw(200, `data: ${JSON.stringify({ error })}\n\n`, SSE) : null
              const { text } = await ask(cell, step ?? raw(status, JSON.stringify({ error })))
              expect(text).not.toContain(spell(secret))
              const shown = at.t.settled.at(-1)!
              for (const one of [shown.outcome.error, ...shown.ctx.attempts.map(({ error: failed }) => failed)]) {
                if (!one) continue
                expect(JSON.stringify([one.message, one.code, one.type, one.param, one.upstream])).not.toContain(spell(secret))
                for (const slug of [one.code, one.type, one.upstream?.vendorCode ?? null])
                  if (slug !== null) expect(slug).toMatch(/^[\w.:-]{1,64}$/)
              }
            }
          }
      })
    }
  })

  it('a broken connection says nothing of where it went', async () => {
    for (const cell of pairs({ upstreams: ['chat'] })) {
      await count.run('network', nameOf(cell), async () => {
        expect((await ask(cell, reset())).text).not.toMatch(/127\.0\.0\.1|ECONN|:\d{4,5}/)
      })
    }
  })
})

it('a header of ours that an upstream repeats does not reach the client', async () => {
  for (const caller of DIALECTS) {
    at.good.script({
      kind: 'reply',
      reply: { text: 'fine' },
      headers: { 'x-echo': SECRET, 'set-cookie': 'a=b', server: 'vendor', location: 'http://x', 'x-request-id': 'vendor-1' },
    })
    const { path, body } = pathAndBody(caller, `two-${caller}/m`, false)
    at.bad.script(fail(500))
    const response = await fetch(`${at.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect([...response.headers.keys()]).not.toEqual(expect.arrayContaining(['x-echo']))
    for (const name of ['x-echo', 'set-cookie', 'server', 'location', 'x-powered-by'])
      expect(response.headers.has(name), name).toBe(false)
    expect(response.headers.get('x-request-id') ?? response.headers.get('request-id')).toMatch(/^req_/)
    await response.arrayBuffer()
  }
})
