// The canary sweep over shadow evaluation: the prompt and the answers of a sample are sealed while it waits, and nowhere afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { fail } from '../../adapters/testing/script.ts'
import { jsonLog } from '../../core/log.ts'
import { systemClock } from '../../core/timing/clock.ts'
import { EVENT_TYPES } from '../../plugins/webhooks/events/catalog.ts'
import { site } from '../plugins/shadow-eval/support.ts'
import { canary, filesOf, hitsOf, type Place } from './sweep.ts'

const secrets = { prompt: canary('prompt'), served: canary('served'), cheap: canary('cheap'), error: canary('error') }
const dir = mkdtempSync(join(tmpdir(), 'hookgate-canary-shadow-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('no text of a sample is outside of its sealed column', async () => {
  const lines: string[] = []
  const posted: string[] = []
  const s = await site({
    env: { DATA_DIR: dir },
    settings: { 'shadow.judge_model': 'chat/judge' },
    ports: {
      log: jsonLog(systemClock, { write: (line: string) => lines.push(line) }),
      async outboundPost({ url, body }) {
        posted.push(`${url} ${body}`)
        return { status: 200 }
      },
    },
  })
  await s.api('POST', '/api/webhooks/endpoints', { url: 'https://hooks.example.com/in', event_types: EVENT_TYPES })
  s.answers.set('dear', { text: secrets.served })
  s.answers.set('judge', { text: `same ${secrets.served}` })
  s.answers.set('cheap', { text: secrets.cheap })
  const ask = () => s.ask({ messages: [{ role: 'user', content: secrets.prompt }] })
  await ask()
  const waiting = await s.sampled(1)
  const sealed = filesOf(dir)
  await s.replayed()
  s.answers.set('cheap', () => fail(400, { message: `no ${secrets.error} ${secrets.prompt}` }))
  await ask()
  await s.replayed(2)
  await s.clock.advance('1m')
  const answers = await Promise.all(
    ['/api/shadow', '/api/logs', '/api/eval', '/api/usage', '/api/advisor', '/api/audit', '/metrics'].map(
      async (path) => [path, await (await s.t.fetch(path)).text()] as Place,
    ),
  )
  expect(JSON.stringify(waiting)).toContain('"state":"queued"')
  expect(answers[0]?.[1]).toContain('"method":"judge"')
  await s.t.close()
  expect(sealed.some(([place, content]) => place.startsWith('/gateway.db') && content.includes('payload_sealed'))).toBe(true)
  const places: Place[] = [['log', lines.join('\n')], ['webhooks', posted.join('\n')], ...answers, ...sealed, ...filesOf(dir)]
  expect(hitsOf(secrets, places)).toEqual([])
})
