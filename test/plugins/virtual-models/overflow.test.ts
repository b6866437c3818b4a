// A conversation too long for a target: on to a larger window, never to a smaller one.
import { afterEach, expect, it } from 'vitest'
import { fail } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { type Site, site } from './support.ts'

const WINDOWS: Record<string, number> = { small: 8000, smaller: 4000, large: 200_000 }
const known = definePlugin({
  name: 'windows',
  requires: ['modelFacts'],
  setup(gateway) {
    gateway
      .use('modelFacts')
      .layer((provider) => (WINDOWS[provider] === undefined ? {} : { contextWindow: WINDOWS[provider], capabilities: {} }))
  },
})
const TOO_LONG = { message: "This model's maximum context length is 8000 tokens.", code: 'context_length_exceeded' }

let s: Site
afterEach(() => s.close())

async function start(names: string[], answer: { message: string; code?: string } = TOO_LONG, resilience = false): Promise<void> {
  s = await site(names, {
    script: { small: Array.from({ length: 4 }, () => fail(400, answer)) },
    plugins: [known()],
    resilience,
  })
  await s.make({ name: 'vm', strategy: 'failover', targets: names.map((name) => `${name}/m`) })
}

for (const resilience of [false, true]) {
  it(`goes on to the target that holds more, past one that holds less${resilience ? ', beside account state' : ''}`, async () => {
    await start(['small', 'smaller', 'large'], TOO_LONG, resilience)
    const response = await s.ask('vm')
    expect(response.status).toBe(200)
    expect(['small', 'smaller', 'large'].map((name) => s.calls(name))).toEqual([1, 0, 1])
    await s.t.untilSettled(1)
    expect(s.t.settled[0]?.ctx.attempts.map(({ action, skipped }) => skipped?.reason ?? action)).toEqual([
      'next_target',
      'capability',
      'returned',
    ])
  })
}

it('is the vendor’s answer when nothing holds more, and on a concrete model', async () => {
  await start(['small', 'smaller'])
  for (const model of ['vm', 'small/m']) {
    const response = await s.ask(model)
    expect(response.status, model).toBe(400)
    expect(await response.json(), model).toMatchObject({ error: { message: TOO_LONG.message, type: 'invalid_request_error' } })
  }
  expect(s.calls('smaller')).toBe(0)
})

it('a 400 that only quotes such words stays where it is', async () => {
  await start(['small', 'large'], { message: `Invalid tool: ${'x'.repeat(100)} "maximum context length"` })
  expect((await s.ask('vm')).status).toBe(400)
  expect(s.calls('large')).toBe(0)
})
