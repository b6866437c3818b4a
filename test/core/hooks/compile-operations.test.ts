// Hooks of one operation: which handlers run, and which hooks are null.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { compileHooks } from '../../../core/hooks/compile.ts'
import { HookRegistry, registration } from '../../../core/hooks/registry.ts'
import { silentLog } from '../../../core/log.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'

const ctx = {} as RequestContext

describe('operation', () => {
  const sealed = () => {
    const registry = new HookRegistry()
    const ran: string[] = []
    const add = (plugin: string, options: object) =>
      registry.add(registration(plugin, 'request', () => void ran.push(plugin), options))
    add('all', {})
    add('one', { operation: 'embeddings' })
    add('some', { operation: ['chat', 'embeddings'], when: () => ran.length > 1 })
    registry.add(registration('one', 'call', (_ctx, next) => next(), { operation: 'rerank' }))
    return { ran, hooks: compileHooks(registry, { clock: fakeClock(), log: silentLog, failed: () => {} }) }
  }

  it.each([
    ['chat', ['all']],
    ['embeddings', ['all', 'one', 'some']],
    ['rerank', ['all']],
  ] as const)('%s runs its own handlers, in their order', (operation, plugins) => {
    const { ran, hooks } = sealed()
    void hooks.of(operation).request?.(ctx)
    expect(ran).toEqual(plugins)
  })

  it('a hook that only other operations use is null', () => {
    const { hooks } = sealed()
    expect(hooks.of('chat').call).toBeNull()
    expect(hooks.of('rerank').call).not.toBeNull()
    expect(hooks.of('chat')).toBe(hooks.of('chat'))
  })

  it('shows as a condition, and runs are counted over all operations', () => {
    const { hooks } = sealed()
    for (const operation of ['chat', 'embeddings'] as const) void hooks.of(operation).request?.(ctx)
    expect(hooks.runs().find(({ plugin }) => plugin === 'all')?.ran).toBe(2)
    const { handlers } = hooks.sealed.find(({ hook }) => hook === 'request') as { handlers: { conditional: boolean }[] }
    expect(handlers.map(({ conditional }) => conditional)).toEqual([false, true, true])
  })
})
