// A simulation in the browser is `hookgate simulate --json`: the same bytes, for what is saved and for a draft.
import type { Page, Response as PageResponse } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built, folder, hookgate, type Serving, serving } from '../adapters/cli/hookgate.ts'
import { BROWSER, openPage } from './browser.ts'

const config = (models: string) => `
import { defineConfig, secret } from 'hookgate'

export default defineConfig({
  connections: {
    main: { provider: 'openai', apiKey: secret.env('KEY_OF_MAIN') },
    spare: { provider: 'openai', apiKey: secret.env('KEY_OF_SPARE') },
    claude: { provider: 'anthropic', apiKey: secret.env('KEY_OF_CLAUDE') },
  },
  virtualModels: { ${models} },
})
`
const SAVED = `coder: { strategy: 'failover', targets: ['openai/gpt-4.1', 'anthropic/claude-sonnet-4-5'] }`
const NIGHT = { name: 'night', strategy: 'load_balance', targets: ['anthropic/claude-sonnet-4-5', 'openai/gpt-4.1'] }
const KEYS = { KEY_OF_MAIN: 'sk-a', KEY_OF_SPARE: 'sk-b', KEY_OF_CLAUDE: 'sk-c' }

const scriptOf = (model: string): string =>
  [
    { at: '0s', model, count: 40, every: '1s' },
    { at: '5s', upstream: 'openai/main', answer: { status: 429, retry_after: 15, latency_ms: 200 } },
    { at: '12s', upstream: 'openai', answer: { status: 0, latency_ms: 50 } },
    { at: '25s', upstream: 'openai', answer: {} },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')

describe.skipIf(BROWSER === null)('simulate in the dashboard (needs chromium)', () => {
  let server: Serving
  beforeAll(async () => {
    await built()
    const cwd = folder({ 'gateway.config.ts': config(SAVED) })
    server = await serving([], { cwd, env: { GATEWAY_DATA_DIR: cwd, ...KEYS } })
  })
  afterAll(async () => {
    server.child.kill('SIGTERM')
    await server.exited
  })

  /** What the command line prints for the same script. */
  async function printed(models: string, script: string): Promise<string> {
    const cwd = folder({ 'gateway.config.ts': config(models), 'day.jsonl': script })
    const { code, stdout } = await hookgate(['simulate', 'day.jsonl', '--json'], { cwd, env: KEYS })
    expect(code).toBe(0)
    return stdout
  }

  const scriptField = (page: Page) => page.getByRole('region', { name: 'Simulate' }).getByLabel('One JSON object a line')

  async function simulate(page: Page, script: string): Promise<PageResponse> {
    const panel = page.getByRole('region', { name: 'Simulate' })
    if (!(await scriptField(page).isVisible())) await panel.getByText('Script', { exact: true }).click()
    await scriptField(page).fill(script)
    const answer = page.waitForResponse('**/api/simulate')
    await panel.getByRole('button', { name: 'Run' }).click()
    return answer
  }

  it('has the bytes of the command line for the virtual model of the file, and shows their figures', async () => {
    const { page, close } = await openPage(server.url, '/routing/coder')
    const script = scriptOf('coder')
    const answer = await simulate(page, script)
    expect(answer.status()).toBe(200)
    const stdout = await printed(SAVED, script)
    expect((await answer.body()).equals(Buffer.from(stdout))).toBe(true)
    const lines = stdout.trim().split('\n').slice(0, -1)
    const answered = lines.filter((line) => (JSON.parse(line) as { status: number }).status < 400).length
    expect(lines).toHaveLength(40)
    // Some of the script fails: the figures are not of a calm day.
    expect(stdout).toContain('"skipped"')
    await page.getByText('Each request', { exact: true }).click()
    const result = page.getByRole('table', { name: 'Simulated requests' })
    await expect.poll(() => result.getByRole('row').count()).toBe(41)
    const words = await page.getByRole('region', { name: 'Simulate' }).innerText()
    expect(words).toContain(`${(answered / 40) * 100} %`)
    await close()
  })

  it('has the bytes of the command line for a draft that is not saved', async () => {
    const { page, close } = await openPage(server.url, '/routing/+new?as=text')
    await page.getByLabel('The virtual model as JSON').fill(JSON.stringify(NIGHT))
    const script = scriptOf('night')
    const answer = await simulate(page, script)
    const { name, ...declared } = NIGHT
    const stdout = await printed(`${SAVED}, ${name}: ${JSON.stringify(declared)}`, script)
    expect(await answer.text()).toBe(stdout)
    const saved = (await (await fetch(`${server.url}/api/virtual-models`)).json()) as { data: { name: string }[] }
    expect(saved.data.map(({ name }) => name)).toEqual(['coder'])
    // The page runs a second simulation, for the comparison. The gateway runs one at a time.
    await page.getByText('Each request', { exact: true }).waitFor()
    await close()
  })

  const WRONG = {
    'more requests than it takes': '{"at":"0s","model":"coder","count":10001}',
    'a line that is no JSON': '{"at":"0s"',
    'an upstream that is not there': '{"model":"coder"}\n{"upstream":"nowhere","answer":{}}',
  }

  it('refuses more than its limits and wrong scripts with 400, and says so at the script', async () => {
    const { page, close } = await openPage(server.url, '/routing/coder', { expected: /400/ })
    const panel = page.getByRole('region', { name: 'Simulate' })
    for (const [label, script] of Object.entries(WRONG)) {
      const answer = await simulate(page, script)
      expect(answer.status(), label).toBe(400)
      const { error } = (await answer.json()) as { error: { param: string; message: string } }
      expect(error.param, label).toBe('script')
      await panel.getByRole('alert').getByText(error.message.slice(0, 40)).waitFor()
      expect(await scriptField(page).inputValue()).toBe(script)
    }
    expect(await page.getByRole('table', { name: 'Simulated requests' }).count()).toBe(0)
    await close()
  })
})
