// Sessions over two gateways: with a shared store a session stays with its account wherever its next request arrives.
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { contentOf } from './support.ts'

patientRedis()
const missing = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')

it.skipIf(missing !== '')(
  `a session that one gateway has given an account keeps it at the other, and moves for both${missing && ` (${missing})`}`,
  async () => {
    const database = await testPostgres()
    const ups = { a: await scriptedUpstream(text('a')), b: await scriptedUpstream(text('b')) }
    const connections = Object.fromEntries(
      Object.entries(ups).map(([name, up]) => [
        name,
        { provider: 'custom', baseUrl: up.baseUrl('chat'), wireFormat: 'chat', apiKey: 'sk-up' } as const,
      ]),
    )
    const config = {
      connections,
      virtualModels: { vm: { strategy: 'load_balance' as const, targets: ['a/m', 'b/m'], config: { stickyTtlSecs: 60 } } },
    }
    const env = { DATABASE_URL: database.url, REDIS_URL, MASTER_KEY: randomBytes(32).toString('base64') }
    const gateways = [await createTestGateway({ config, env }), await createTestGateway({ config, env })] as const
    const [here, there] = gateways
    const ask = async (t: TestGateway, session: string) => {
      const settled = t.settled.length
      const body = { model: 'vm', messages: [{ role: 'user', content: 'hi' }] }
      const answered = contentOf(await (await t.post('/v1/chat/completions', body, { 'x-session-id': session })).json())
      await t.untilSettled(settled + 1)
      return answered
    }
    try {
      await reachedRedis(...gateways)
      // Odd ones look alike to a store that knows paths; turns alternate, so chance cannot hold five of them together.
      const sessions = ['plain', 'a/b', 'a:b', 'x?1', 'x?2']
      const given = new Map<string, string>()
      for (const session of sessions) given.set(session, await ask(here, session))
      expect(new Set(given.values()).size).toBe(2)
      for (const session of sessions) await expect.poll(() => ask(there, session), { interval: 10 }).toBe(given.get(session))
      for (const session of sessions) expect(await ask(there, session)).toBe(given.get(session))
      // It moves at one of them, and the other follows.
      const [session] = sessions as [string]
      const from = given.get(session) as 'a' | 'b'
      ups[from].script({ kind: 'fail', status: 500, message: 'no' }, text(from))
      const to = await ask(there, session)
      expect(to).not.toBe(from)
      await expect.poll(() => ask(here, session), { interval: 10 }).toBe(to)
    } finally {
      for (const t of gateways) await t.close()
      for (const up of Object.values(ups)) await up.close()
      await database.drop()
    }
  },
)
