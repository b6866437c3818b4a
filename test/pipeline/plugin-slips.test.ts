// Common mistakes of plugins: asynchronous functions that are not awaited, and values of another shape. The process stays up, the request
// ends, the ledger is settled, and the log names the plugin.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, text } from '../../adapters/testing/index.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { HookName } from '../../core/types/plugin/hooks.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { type RecordingLog, recordingLog } from '../support/recording-log.ts'
import { pathAndBody } from './support/wire.ts'

let unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeEach(() => {
  unhandled = []
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
})

async function world(setup: (gateway: PluginGateway) => void): Promise<{ t: TestGateway; log: RecordingLog }> {
  const log = recordingLog()
  const t = await createTestGateway({
    plugins: [definePlugin({ name: 'slips', setup })()],
    ports: { log },
    upstream: [text('fine, thank you')],
  })
  return { t, log }
}
async function ask(t: TestGateway, stream: boolean): Promise<{ status: number; said: string }> {
  const { path, body } = pathAndBody('chat', 'chat/m', stream)
  const response = await t.post(path, body)
  return { status: response.status, said: await response.text() }
}
/** Rejections are reported after the turn in which they happened. */
const turns = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}
const blamed = (log: RecordingLog) =>
  log.lines.flatMap(({ message, fields }) => (message === 'plugin.error' ? [(fields as { plugin: string }).plugin] : []))
const any = (value: unknown) => value as never
const rejects = (what: string) => async () => {
  throw new Error(`${what} is a bug`)
}

describe('an asynchronous function where nobody waits does not end the process', () => {
  const CASES: Record<string, [(gateway: PluginGateway) => void, stream: boolean, status: number, logged: string]> = {
    when: [(g) => g.hook('request', () => {}, { when: any(rejects('when')) }), false, 503, 'plugin.error'],
    settle: [(g) => g.hook('settle', any(rejects('settle'))), false, 200, 'plugin.error'],
    'a lease': [(g) => g.hook('access', (ctx) => ctx.hold({ settle: any(rejects('lease')) })), false, 200, 'settle.failed'],
    'a tap': [(g) => g.hook('access', (ctx) => ctx.tap(any(rejects('tap')))), false, 200, 'tap.failed'],
    afterCommit: [
      (g) => g.hook('settle', (_ctx, _outcome, unit) => unit.afterCommit(any(rejects('commit')))),
      false,
      200,
      'settle.failed',
    ],
    'a stream factory': [(g) => g.hook('stream', any(rejects('factory'))), true, 503, 'plugin.error'],
    'a transform': [(g) => g.hook('stream', () => ({ event: any(rejects('event')) })), true, 200, 'plugin.error'],
    'a flush': [
      (g) => g.hook('stream', () => ({ event: (event, emit) => emit(event), flush: any(rejects('flush')) })),
      true,
      200,
      'plugin.error',
    ],
  }

  it.each(Object.entries(CASES))('%s', async (_what, [setup, stream, status, logged]) => {
    const { t, log } = await world(setup)
    expect((await ask(t, stream)).status).toBe(status)
    await t.untilSettled()
    await turns()
    expect(unhandled).toEqual([])
    const line = log.lines.find(({ message }) => message === logged)
    expect(JSON.stringify(line)).toMatch(/is a bug|promise/)
    await t.close()
  })

  it('settle: what the others book is booked, and the plugin is told that nobody waits', async () => {
    const { t, log } = await world((g) =>
      g.hook(
        'settle',
        any(async () => {}),
      ),
    )
    expect((await ask(t, false)).status).toBe(200)
    await t.untilSettled()
    expect(JSON.stringify(log.lines)).toContain('`settle` is synchronous')
    await t.close()
  })
})

describe('a value of another shape is the bug of the plugin that returned it', () => {
  const WRONG: [HookName, unknown][] = [
    ['authenticate', { keyId: 'k1', label: null, orgId: null, allowedModels: null }],
    ['authenticate', { label: 'me' }],
    ['resolve', { targets: ['chat/m'] }],
    ['answer', { choices: [] }],
    ['candidates', 'none'],
    ['candidates', [null]],
    ['call', true],
    ['attempt', { kind: 'full' }],
    ['stream', { transform() {} }],
    ['stream:batch', [{ type: 'delta' }]],
    ['response', { choices: 'none' }],
  ]
  const runs = (hook: HookName) => [hook.startsWith('stream')].concat(hook === 'answer' ? [true] : [])

  it.each(
    WRONG.flatMap(([hook, value]) => [false, true].map((later) => [hook, value, later] as const)),
  )('%s: %j (later: %s)', async (hook, value, later) => {
    if (later && hook === 'stream') return
    const { t, log } = await world((g) => g.hook(hook, any(later ? async () => value : () => value)))
    for (const stream of runs(hook)) {
      const { status, said } = await ask(t, stream)
      // `answer` fails open; a stream has started when its batch fails.
      expect(status).toBe(hook === 'answer' || hook === 'stream:batch' ? 200 : 503)
      expect(said).toMatch(hook === 'answer' ? /fine/ : /plugin_failed/)
    }
    await t.untilSettled()
    expect(new Set(blamed(log))).toEqual(new Set(['slips']))
    await t.close()
  })

  it.each([
    'authenticate',
    'resolve',
    'answer',
    'candidates',
    'stream',
    'stream:batch',
    'response',
  ] as const)('%s: null is nothing, and a request without an answer of a plugin is admitted', async (hook) => {
    const { t, log } = await world((g) => {
      g.hook(
        hook,
        any(() => null),
      )
      g.hook('admit', (ctx) => ctx.note('admitted', true))
    })
    for (const stream of [false, true]) expect((await ask(t, stream)).status).toBe(200)
    await t.untilSettled(2)
    expect(t.settled.map(({ ctx }) => ctx.notes?.admitted)).toEqual([true, true])
    expect(blamed(log)).toEqual([])
    await t.close()
  })

  it('a transform that fails open behind an event it let through does not say it twice', async () => {
    const { t } = await world((g) => {
      const event = any((given: unknown, emit: (event: unknown) => void) => {
        emit(given)
        throw new Error('too late')
      })
      g.hook('stream', () => ({ event }), { onError: 'open' })
    })
    const { said } = await ask(t, true)
    expect(said.match(/"role":"assistant"/g)).toHaveLength(1)
    await t.close()
  })
})

describe('what a plugin writes to the request', () => {
  const REFUSED: Record<string, (gateway: PluginGateway) => void> = {
    'a cost center that is a number': (g) => g.hook('access', (ctx) => void Object.assign(ctx, { costCenter: 7 })),
    'a session that is a number': (g) => g.hook('access', (ctx) => void Object.assign(ctx, { sessionId: 8 })),
    'a user that is an object': (g) => g.hook('access', (ctx) => void Object.assign(ctx, { userId: {} })),
    'a note that is no JSON': (g) => g.hook('access', (ctx) => ctx.note('n', any(10n))),
    'a lease that cannot settle': (g) => g.hook('access', (ctx) => ctx.hold(any({}))),
    'a time that is none': (g) =>
      g.hook('candidates', (ctx, all) => {
        for (const one of all) ctx.skip(one, 'cooldown', any('soon'))
        return []
      }),
    'the name of no header': (g) => g.hook('access', (ctx) => ctx.responseHeaders.set('x team', 'a')),
  }

  it.each(Object.entries(REFUSED))('%s is its own bug, and the books close', async (_what, setup) => {
    const { t, log } = await world(setup)
    expect((await ask(t, false)).status).toBe(503)
    await t.untilSettled()
    expect(new Set(blamed(log))).toEqual(new Set(['slips']))
    await t.close()
  })

  it('a statement that is none is refused where it is added, and the others book', async () => {
    const { t, log } = await world((g) => g.hook('settle', (_ctx, _outcome, unit) => unit.add(any('DELETE FROM x'))))
    expect((await ask(t, false)).status).toBe(200)
    await t.untilSettled()
    expect(blamed(log)).toEqual(['slips'])
    await t.close()
  })

  it('headers and warnings leave, whatever is in them: no line more, no answer less', async () => {
    const { t } = await world((g) =>
      g.hook('access', (ctx) => {
        ctx.responseHeaders.set('x-team', 'Größe→1\r\nx-evil: 1')
        ctx.warn('grö→e→\r\nx-evil: 1')
      }),
    )
    const { url } = await t.listen()
    const { path, body } = pathAndBody('chat', 'chat/m', false)
    for (const response of [await t.post(path, body), await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })]) {
      expect(response.status).toBe(200)
      expect(response.headers.get('x-team')).toBe('Größe?1??x-evil: 1')
      expect(response.headers.get('x-gateway-warnings')).toBe('gr__e___x-evil:_1')
      expect(response.headers.has('x-evil')).toBe(false)
      expect(await response.text()).toContain('fine')
    }
    await t.close()
  })

  it.each([200, 999, Number.NaN])('an error of status %d is a 500', async (status) => {
    const { t } = await world((g) =>
      g.hook('request', () => {
        throw new GatewayError('No.', { status, type: 'mine', headers: ['x-why', 'a\nb→'], retryAfterMs: Number.NaN })
      }),
    )
    const { url } = await t.listen()
    const { path, body } = pathAndBody('chat', 'chat/m', false)
    for (const response of [await t.post(path, body), await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })]) {
      expect(response.status).toBe(500)
      expect(response.headers.get('x-why')).toBe('a?b?')
      expect(response.headers.has('retry-after')).toBe(false)
      expect(await response.text()).toContain('No.')
    }
    expect(unhandled).toEqual([])
    await t.close()
  })
})
