import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { HOOK_NAMES } from '../../../core/hooks/catalogue.ts'
import { compileHooks } from '../../../core/hooks/compile.ts'
import { HookRegistry, registration } from '../../../core/hooks/registry.ts'
import { silentLog } from '../../../core/log.ts'
import type { GatewayHooks, HookOptions } from '../../../core/types/plugin/hooks.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'

const ctx = {} as RequestContext
const answer = (name: string): Result => ({ kind: 'raw', status: 200, headers: [], body: new TextEncoder().encode(name) })
const nameOf = (result: Result | undefined) =>
  result?.kind === 'raw' && result.body instanceof Uint8Array ? new TextDecoder().decode(result.body) : undefined

function setUp() {
  const registry = new HookRegistry()
  const clock = fakeClock()
  const failures: string[] = []
  const lines: string[] = []
  const log = { ...silentLog, error: (message: string) => void lines.push(message) }
  return {
    clock,
    failures,
    lines,
    add<K extends keyof GatewayHooks>(plugin: string, hook: K, fn: GatewayHooks[K], options?: HookOptions) {
      registry.add(registration(plugin, hook, fn, options))
    },
    seal() {
      const sealed = compileHooks(registry, { clock, log, failed: (plugin, hook) => failures.push(`${plugin}.${hook}`) })
      return { ...sealed, ...sealed.of('chat') }
    },
  }
}

describe('registration', () => {
  it('refuses a hook that does not exist and names those that do', () => {
    expect(() => registration('mine', 'reqest' as 'request', () => {})).toThrow(
      /mine.*`reqest`.*Hooks are: ingress, authenticate/,
    )
  })

  it('costs nothing where nobody hooks: the runner is null', () => {
    const sealed = setUp().seal()
    expect([sealed.ingress, sealed.answer, sealed.stream, sealed.settled]).toEqual([null, null, null, null])
    expect(sealed.sealed.map(({ hook }) => hook)).toEqual(HOOK_NAMES)
  })
})

describe('order', () => {
  const order = (add: (t: ReturnType<typeof setUp>, log: string[]) => void): string[] => {
    const t = setUp()
    const ran: string[] = []
    add(t, ran)
    void t.seal().request?.(ctx)
    return ran
  }

  it('is band, then registration', () => {
    expect(
      order((t, ran) => {
        t.add('last', 'request', () => void ran.push('last'), { order: 'post' })
        t.add('a', 'request', () => void ran.push('a'))
        t.add('b', 'request', () => void ran.push('b'))
        t.add('first', 'request', () => void ran.push('first'), { order: 'pre' })
      }),
    ).toEqual(['first', 'a', 'b', 'last'])
  })

  it('before and after win over bands; unknown names are ignored', () => {
    expect(
      order((t, ran) => {
        t.add('a', 'request', () => void ran.push('a'), { after: ['c', 'nobody'] })
        t.add('b', 'request', () => void ran.push('b'), { order: 'post', before: 'a' })
        t.add('c', 'request', () => void ran.push('c'))
      }),
    ).toEqual(['c', 'b', 'a'])
  })

  it('a circle is a boot error that names hook and plugins', () => {
    const t = setUp()
    t.add('alpha', 'access', () => {}, { before: 'beta' })
    t.add('beta', 'access', () => {}, { before: 'gamma' })
    t.add('gamma', 'access', () => {}, { before: 'alpha' })
    expect(() => t.seal()).toThrow(/`access` is a circle: .*alpha.*beta.*gamma|`access` is a circle: .*gamma/)
  })
})

describe('kinds', () => {
  it('series: stays synchronous while every handler is', () => {
    const t = setUp()
    t.add('a', 'request', () => {})
    expect(t.seal().request?.(ctx)).toBeUndefined()
  })

  it('series: runs in order over asynchronous handlers', async () => {
    const t = setUp()
    const ran: string[] = []
    t.add('slow', 'request', async () => {
      await Promise.resolve()
      ran.push('slow')
    })
    t.add('fast', 'request', () => void ran.push('fast'))
    await t.seal().request?.(ctx)
    expect(ran).toEqual(['slow', 'fast'])
  })

  it('first: the first answer that is not undefined ends it', async () => {
    const t = setUp()
    t.add('none', 'answer', async () => undefined)
    t.add('hit', 'answer', () => answer('hit'))
    t.add('never', 'answer', () => {
      throw new Error('must not run')
    })
    expect(nameOf(await t.seal().answer?.(ctx))).toBe('hit')
  })

  it('reduce: each handler may replace the value', async () => {
    const t = setUp()
    t.add('drop', 'candidates', (_ctx, list) => list.slice(1))
    t.add('keep', 'candidates', async (_ctx, list) => [...list].reverse())
    const [one, two, three] = [1, 2, 3].map((id) => ({ target: { id }, connection: {} }))
    expect(await t.seal().candidates?.(ctx, [one, two, three] as never)).toEqual([three, two])
  })

  it('wrap: an onion; next may be called again', async () => {
    const t = setUp()
    const ran: string[] = []
    t.add('outer', 'attempt', async (_ctx, _candidate, next) => {
      ran.push('outer')
      return next().catch(() => next())
    })
    t.add('inner', 'attempt', async (_ctx, _candidate, next) => {
      ran.push('inner')
      return next()
    })
    let calls = 0
    const result = await t.seal().attempt?.(ctx, {} as never, async () => {
      if (++calls === 1) throw GatewayError.timeout('once')
      return answer('second')
    })
    expect(nameOf(result)).toBe('second')
    expect(ran).toEqual(['outer', 'inner', 'inner'])
  })

  it('observe: nothing escapes, not even a GatewayError', async () => {
    const t = setUp()
    const ran: string[] = []
    t.add('bad', 'settled', () => {
      throw GatewayError.forbidden('too late')
    })
    t.add('worse', 'settled', async () => Promise.reject(new Error('boom')))
    t.add('good', 'settled', () => void ran.push('good'))
    await t.seal().settled?.(ctx, {} as never)
    expect(ran).toEqual(['good'])
    expect(t.failures).toEqual(['worse.settled'])
  })

  it('settle: one failing plugin does not keep the others from booking', () => {
    const t = setUp()
    const ran: string[] = []
    t.add('bad', 'settle', () => {
      throw new Error('boom')
    })
    t.add('good', 'settle', () => void ran.push('good'))
    expect(() => t.seal().settle?.(ctx, {} as never, {} as never)).toThrow(/bad/)
    expect(ran).toEqual(['good'])
  })
})

describe('isolation', () => {
  it('a GatewayError is a decision: it passes unchanged, even from a hook that fails open', () => {
    const t = setUp()
    t.add(
      'veto',
      'request',
      () => {
        throw GatewayError.forbidden('no')
      },
      { onError: 'open' },
    )
    expect(() => t.seal().request?.(ctx)).toThrow(expect.objectContaining({ status: 403 }))
    expect(t.failures).toEqual([])
  })

  it('a bug closes: 503 that names plugin and hook, counted and logged, degraded once after five', () => {
    const t = setUp()
    t.add('buggy', 'request', () => {
      throw new TypeError('x is not a function')
    })
    const sealed = t.seal()
    for (let i = 0; i < 6; i++)
      expect(() => sealed.request?.(ctx)).toThrow(
        expect.objectContaining({ status: 503, code: 'plugin_failed', message: expect.stringMatching(/buggy.*request/) }),
      )
    expect(t.failures).toHaveLength(6)
    expect(t.lines.filter((line) => line === 'plugin.degraded')).toHaveLength(1)
  })

  it('a bug fails open where the plugin or the catalogue says so', async () => {
    const t = setUp()
    t.add('cache', 'answer', () => {
      throw new Error('store is down')
    })
    t.add('soft', 'request', async () => Promise.reject(new Error('boom')), { onError: 'open' })
    const sealed = t.seal()
    expect(await sealed.answer?.(ctx)).toBeUndefined()
    await sealed.request?.(ctx)
    expect(t.failures).toEqual(['cache.answer', 'soft.request'])
  })

  it('running over timeoutMs counts as a bug', async () => {
    const t = setUp()
    t.add('slow', 'request', () => new Promise(() => {}), { timeoutMs: 50 })
    const running = t.seal().request?.(ctx) as Promise<void>
    const failed = expect(running).rejects.toMatchObject({ status: 503 })
    await t.clock.advance(50)
    await failed
  })

  it('a wrap that fails open after the upstream was asked gives the upstream’s answer, and does not ask twice', async () => {
    const t = setUp()
    let calls = 0
    t.add(
      'late',
      'call',
      async (_ctx, next) => {
        await next()
        throw new Error('after the answer')
      },
      { onError: 'open' },
    )
    const result = await t.seal().call?.(ctx, undefined, async () => {
      calls++
      return answer('upstream')
    })
    expect([nameOf(result), calls]).toEqual(['upstream', 1])
  })

  it('`when` false is as if the handler were not registered', () => {
    const t = setUp()
    t.add('guarded', 'response', () => undefined, { when: () => false })
    const sealed = t.seal()
    expect(sealed.applies('response', ctx)).toBe(false)
  })

  it('a wrap that leaves the inner result as it is counts as a run, also when the upstream fails', async () => {
    const t = setUp()
    t.add('passing', 'attempt', (_ctx, _candidate, next) => next())
    const sealed = t.seal()
    const failure = GatewayError.timeout('upstream')
    await expect(sealed.attempt?.(ctx, {} as never, () => Promise.reject(failure))).rejects.toBe(failure)
    expect(sealed.runs().find(({ plugin }) => plugin === 'passing')).toMatchObject({ ran: 1, refused: 0 })
  })

  it('an answer that is decoded on first use is not decoded to check it', async () => {
    const t = setUp()
    t.add('watching', 'attempt', async (_ctx, _candidate, next) => next())
    let decoded = 0
    class Late {
      readonly kind = 'full'
      get response() {
        decoded++
        return { choices: [], usage: {} }
      }
    }
    const late = new Late() as unknown as Result
    expect(await t.seal().attempt?.(ctx, {} as never, async () => late)).toBe(late)
    expect(decoded).toBe(0)
  })
})
