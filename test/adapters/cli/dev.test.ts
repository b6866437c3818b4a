// The request inspector of `hookgate dev`, and the code around an error.
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadFailure } from '../../../adapters/cli/dev/code-frame.ts'
import { inspector } from '../../../adapters/cli/dev/inspector.ts'
import { createGateway, withPreset } from '../../../adapters/node/gateway.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { folder } from './hookgate.ts'

const lines: string[] = []
const print = (line: string): void => void lines.push(stripVTControlCharacters(line))

const ours = definePlugin({
  name: 'ours',
  setup(gateway) {
    gateway.hook('access', (ctx) => {
      ctx.costCenter = 'lab'
      if (ctx.requestedModel === 'echo/no') throw GatewayError.forbidden('not\u001b[2J this one')
    })
    gateway.hook(
      'request',
      (ctx) => {
        const [first] = ctx.edit().messages
        if (first !== undefined) first.parts = [{ t: 'text', text: 'Good day' }]
      },
      { operation: 'chat' },
    )
    gateway.hook('encoded', (_ctx, call) => call.headers.set('x-lab', '1'))
  },
})

const opened: HostedGateway[] = []
async function gatewayWith(verbose: boolean): Promise<HostedGateway> {
  const { plugin, tracer } = inspector({ verbose, print })
  const config = withPreset({ connections: { echo: { provider: 'echo' } } })
  const plugins = [...(config.plugins ?? []), ours(), plugin]
  const gateway = await createGateway({ ...config, plugins }, { log: silentLog, hookTracer: tracer })
  opened.push(gateway)
  return gateway
}
let quiet: HostedGateway
let verbose: HostedGateway
beforeAll(async () => {
  quiet = await gatewayWith(false)
  verbose = await gatewayWith(true)
})
afterAll(async () => {
  for (const gateway of opened) await gateway.close()
})

async function ask(gateway: HostedGateway, model: string): Promise<string[]> {
  lines.length = 0
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  await (await gateway.fetch(new Request('http://localhost/v1/chat/completions', { method: 'POST', body }))).text()
  await expect.poll(() => lines.length).toBeGreaterThan(0)
  return [...lines]
}

it('prints one line for a request: status, address, model, time, tokens, and the plugins that took longest', async () => {
  const printed = await ask(quiet, 'echo/echo-1')
  expect(printed).toHaveLength(1)
  expect(printed[0]).toMatch(
    /^\d\d:\d\d:\d\d {2}200 {2}POST \/v1\/chat\/completions {2}echo\/echo-1 → echo\/echo-1 {2}\d+ ms {2}\d+\+\d+ tokens .*(?:\d\.\d\d ms|plugins below)$/,
  )
})

it('prints a refusal with its reason, without the control characters of the message', async () => {
  const [line] = await ask(quiet, 'echo/no')
  expect(line).toMatch(/ 403 {2}.*: not.\[2J this one {2}/)
  expect(line).not.toContain('\u001b')
})

it('says with --verbose which hooks ran, and what each changed', async () => {
  const [head, ...hooks] = await ask(verbose, 'echo/echo-1')
  expect(head).toMatch(/tokens(?: {2}\S+)?$/)
  const of = (hook: string): string | undefined => hooks.find((line) => new RegExp(`^ +${hook} +ours `).test(line))
  expect(of('access')).toMatch(/ms {2}\+costCenter: "lab"$/)
  expect(of('request')).toMatch(/ms {2}request\.messages\.0\.parts\.0\.text: "Hello" → "Good day"$/)
  expect(hooks.find((line) => /resolve +connections/.test(line))).toMatch(/plan: echo\/echo-1, direct$/)
  expect(hooks.find((line) => /admit +budgets/.test(line))).toMatch(/ms$/)
})

it('shows the lines around the place of a syntax error', () => {
  const path = join(folder({ 'one.ts': 'const a = 1\nconst b = {{\nconst c = 3\n' }), 'one.ts')
  const text = stripVTControlCharacters(
    loadFailure(new Error('one.ts could not be loaded', { cause: new Error(`ParseError: Unexpected token \n ${path}:2:11`) })),
  )
  expect(text).toContain('one.ts:2:12')
  expect(text).toContain(
    ['    1 │ const a = 1', '  > 2 │ const b = {{', '      │            ^', '    3 │ const c = 3'].join('\n'),
  )
  expect(stripVTControlCharacters(loadFailure(new Error('no place')))).toBe('not loaded  no place')
})
