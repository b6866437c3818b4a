// Tracers of hooks: that of the host and that of a plugin see the same runs, with what went in and what came out.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { HookRun } from '../../../core/types/plugin/hook-tracer.ts'

let t: TestGateway
afterEach(() => t.close())

it('a tracer of the host sees each run beside that of a plugin, with arguments, value and what it noted before', async () => {
  const seen: { host: HookRun[]; plugin: HookRun[] } = { host: [], plugin: [] }
  const traced = definePlugin({
    name: 'traced',
    setup(gateway) {
      gateway.hook('access', async (ctx) => {
        ctx.costCenter = 'lab'
      })
      gateway.hook('candidates', (_ctx, candidates) => [...candidates])
    },
  })
  const tracing = definePlugin({
    name: 'tracing',
    setup(gateway) {
      gateway.hook('access', () => {})
      gateway.provide('hookTracer', { plugin: 'tracing', wants: () => true, ran: (_ctx, run) => void seen.plugin.push(run) })
    },
  })
  t = await createTestGateway({
    plugins: [traced(), tracing()],
    upstream: [text('fine')],
    ports: {
      hookTracer: {
        plugin: 'host',
        wants: () => true,
        begins: (ctx) => ctx.costCenter,
        ran: (_ctx, run) => void seen.host.push(run),
      },
    },
  })
  expect((await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] })).status).toBe(
    200,
  )
  const of = (runs: HookRun[], plugin: string) => runs.filter((run) => run.plugin === plugin)
  const [access, candidates] = of(seen.host, 'traced')
  expect([access?.hook, access?.before, access?.returned, access?.error]).toEqual(['access', null, undefined, undefined])
  expect([candidates?.hook, candidates?.before, candidates?.returned]).toEqual(['candidates', 'lab', candidates?.args[1]])
  expect(of(seen.plugin, 'traced').map(({ hook }) => hook)).toEqual(['access', 'candidates'])
  // The tracing plugin is not traced for itself.
  expect([of(seen.host, 'tracing').length, of(seen.plugin, 'tracing').length]).toEqual([1, 0])
})
