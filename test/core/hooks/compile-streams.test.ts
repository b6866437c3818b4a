// Compiled stream stages.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { compileHooks } from '../../../core/hooks/compile.ts'
import { HookRegistry, registration } from '../../../core/hooks/registry.ts'
import { silentLog } from '../../../core/log.ts'
import type { GatewayHooks, HookOptions } from '../../../core/types/plugin/hooks.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'

const ctx = {} as RequestContext

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

describe('stream stages', () => {
  const delta = (text: string): StreamEvent => ({ e: 'delta', choice: 0, part: 0, d: { text } })
  const texts = (events: StreamEvent[]) =>
    events.map((event) => (event.e === 'delta' && 'text' in event.d ? event.d.text : event.e))

  it('compose: each stage sees what the one before it let through, held text comes with flush', () => {
    const t = setUp()
    t.add('shout', 'stream', () => ({
      event: (e, emit) => emit(e.e === 'delta' && 'text' in e.d ? delta(e.d.text.toUpperCase()) : e),
    }))
    t.add('hold', 'stream', () => {
      let held = ''
      return {
        event: (e, emit) => {
          if (e.e === 'delta' && 'text' in e.d) held += e.d.text
          else emit(e)
        },
        flush: (emit) => emit(delta(held)),
      }
    })
    const stages = t.seal().stream?.(ctx)
    const out: StreamEvent[] = []
    stages?.event(delta('a'), (e) => out.push(e))
    stages?.event(delta('b'), (e) => out.push(e))
    stages?.flush((e) => out.push(e))
    expect(texts(out)).toEqual(['AB'])
    expect(stages?.active).toBe(true)
  })

  it('a passive stage watches without leaving the byte lane', () => {
    const t = setUp()
    const seen: StreamEvent[] = []
    t.add('tee', 'stream', () => ({ passive: true, event: (e) => void seen.push(e) }))
    const stages = t.seal().stream?.(ctx)
    expect(stages?.active).toBe(false)
    stages?.event(delta('x'), () => {})
    expect(texts(seen)).toEqual(['x'])
  })

  it('a failing stage that fails open is bypassed for the rest of the stream', () => {
    const t = setUp()
    t.add(
      'bad',
      'stream',
      () => ({
        event: () => {
          throw new Error('boom')
        },
      }),
      { onError: 'open' },
    )
    const stages = t.seal().stream?.(ctx)
    const out: StreamEvent[] = []
    stages?.event(delta('a'), (e) => out.push(e))
    stages?.event(delta('b'), (e) => out.push(e))
    expect(texts(out)).toEqual(['a', 'b'])
    expect(t.failures).toEqual(['bad.stream'])
  })
})
