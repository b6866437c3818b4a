// The tests with real clients (`npm run clients`) work, shown with the clients that are development dependencies.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { choose, text } from '../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { built, hookgateRoot, run } from '../adapters/cli/hookgate.ts'

interface Row {
  id: string
  skipped: string | null
  cells: Record<string, { ok: boolean; limit: boolean; failures: string[] }>
}

// Empty: only clients in node_modules are found.
const dir = mkdtempSync(join(tmpdir(), 'hookgate-no-clients-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function lane(args: string[], env: Record<string, string> = {}): Promise<{ code: number | null; rows: Row[] }> {
  await built()
  const { code, stdout, stderr } = await run([join(hookgateRoot, 'bench/clients.mjs'), '--dir', dir, '--json', ...args], { env })
  if (stdout === '') throw new Error(stderr)
  return { code, rows: JSON.parse(stdout) as Row[] }
}

describe('the lane of real clients', { timeout: 300_000 }, () => {
  it('runs a tool session with each SDK over another dialect than its own', async () => {
    const sdks = ['openai-sdk', 'anthropic-sdk', 'google-sdk'].flatMap((id) => ['--only', id])
    const { code, rows } = await lane([...sdks, '--upstream', 'messages', '--upstream', 'generate_content'])
    expect(rows.map(({ id }) => id)).toEqual([
      'openai-sdk-chat',
      'openai-sdk-responses',
      'anthropic-sdk-messages',
      'google-sdk-google',
    ])
    for (const { id, cells } of rows)
      for (const upstream of ['messages', 'generate_content'])
        expect(cells[upstream], `${id} over ${upstream}`).toMatchObject({ ok: true, failures: [] })
    expect(code).toBe(0)
  })

  it('tells a session that failed, with what failed', async () => {
    // Without stored responses the default of the AI SDK fails.
    const off = { GATEWAY_RESPONSES_STATE: 'false' }
    const { code, rows } = await lane(['--only', 'ai-sdk-responses', '--upstream', 'chat'], off)
    const [bare, unstored] = rows.map(({ cells }) => cells.chat)
    expect(code).toBe(1)
    expect(bare).toMatchObject({ ok: false, limit: false })
    expect(bare?.failures).toContain('400 POST /v1/responses')
    expect(bare?.failures).toContain('the client did not print the final text')
    expect(unstored).toMatchObject({ ok: true, failures: [] })
  })

  it('skips a client that is not installed, by name', async () => {
    const { code, rows } = await lane(['--only', 'codex'])
    expect(rows).toMatchObject(
      ['codex', 'codex-socket'].map((id) => ({ id, skipped: 'not installed: @openai/codex', cells: {} })),
    )
    expect(code).toBe(0)
  })
})

it('a scripted upstream chooses its answer by the request, every time', async () => {
  const upstream = await scriptedUpstream(choose(({ json }) => text(`You said ${json.said}.`)))
  try {
    for (const said of ['one', 'two']) {
      const body = JSON.stringify({ said })
      const answer = await fetch(`${upstream.baseUrl('chat')}/chat/completions`, { method: 'POST', body })
      expect(await answer.json()).toMatchObject({ choices: [{ message: { content: `You said ${said}.` } }] })
    }
  } finally {
    await upstream.close()
  }
})
