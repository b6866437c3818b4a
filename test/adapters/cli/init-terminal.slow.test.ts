// The questions of `hookgate init` on a terminal: answers, defaults, Ctrl-C and the end of input at each, and a folder with a configuration.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { built, folder } from './hookgate.ts'
import { type Answer, CTRL_C, CTRL_D, DOWN, onTerminal, type Session, UP } from './pseudo-terminal.ts'

beforeAll(() => built(), 60_000)

const PROVIDER = /Which provider\?[\s\S]*Skip this step/
const HOW = /The key of OpenAI[\s\S]*Skip this step/
const PASTE = /Key: $/
const KEEP = /Where to keep the connection\?[\s\S]*Skip this step/
const LABEL = /Label of your client key[\s\S]*me/
const NEXT = /What now\?[\s\S]*Skip this step/

/** No process listens on this port. */
const NOWHERE = 'http://127.0.0.1:9/v1'

async function init(
  context: TestContext,
  args: string,
  answers: readonly Answer[],
  { cwd = folder({}), env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Session & { cwd: string }> {
  const session = await onTerminal(`init ${args}`, answers, { cwd, env: { GATEWAY_PRICING_SYNC_ENABLED: 'false', ...env } })
  if (session === null) return context.skip('no `script` on this machine')
  return { ...session, cwd }
}

const read = (cwd: string, file: string): string => readFileSync(join(cwd, file), 'utf8')

describe.each([
  ['Ctrl-C', CTRL_C],
  ['Ctrl-D', CTRL_D],
])('%s', (_name, keys) => {
  it.for<[string, string, Answer[], string[]]>([
    ['which provider', '', [[PROVIDER, keys]], []],
    ['how to give the key', '--provider openai', [[HOW, keys]], []],
    [
      'the key',
      '--provider openai',
      [
        [HOW, '\r'],
        [PASTE, keys],
      ],
      [],
    ],
    [
      'what to do after a failed test',
      `--provider openai --base-url ${NOWHERE}`,
      [
        [HOW, '\r'],
        [PASTE, 'sk-typed\r'],
        [NEXT, keys],
      ],
      [],
    ],
    ['the label', '--provider echo', [[LABEL, keys]], ['data']],
    [
      'where to keep it',
      '--provider echo',
      [
        [LABEL, '\r'],
        [KEEP, keys],
      ],
      ['data'],
    ],
  ])('at the question %s ends with 130, and keeps no connection', async ([, args, answers, left], context) => {
    const { code, shown, unasked, cwd } = await init(context, args, answers)
    expect({ code, unasked }).toEqual({ code: 130, unasked: [] })
    expect(shown).not.toMatch(/ERROR|sk-typed|unsettled/)
    expect(readdirSync(cwd).sort()).toEqual(left)
    if (left.length === 0) return
    // The database was closed: it has no open log.
    expect(readdirSync(join(cwd, 'data')).filter((name) => name.endsWith('-wal'))).toEqual([])
  })
})

it('the defaults make a file, a key and a request', async (context) => {
  const { code, shown, cwd } = await init(context, '--provider echo', [
    [LABEL, '\r'],
    [KEEP, '\r'],
  ])
  expect(code).toBe(0)
  expect(shown).toMatch(
    /3 key +key 1 \(me\) is made[\s\S]*gw_\w{47}[\s\S]*4 request +echo\/echo-1 200[\s\S]*5 keep +gateway\.config\.ts/,
  )
  expect(read(cwd, 'gateway.config.ts')).toMatch(/main: \{ provider: 'echo' \},\n {2}\},\n\}\)\n$/)
})

it('answers: another provider by its id, the database, and a label', async (context) => {
  // Of the last choices: another one, echo, skip.
  const { code, shown, cwd } = await init(context, '', [
    [PROVIDER, `${UP}${UP}${UP}\r`],
    [/Id of the provider:/, 'nonsense\r'],
    [/There is no provider nonsense\.[\s\S]*Id of the provider:/, 'echo\r'],
    [LABEL, 'laptop\r'],
    [KEEP, `${DOWN}\r`],
  ])
  expect(code).toBe(0)
  expect(shown).toMatch(/key 1 \(laptop\) is made[\s\S]*echo\/echo-1 200[\s\S]*5 keep +connection \d+ in the database/)
  expect(existsSync(join(cwd, 'gateway.config.ts'))).toBe(false)
})

it('a connection gets its request before it is kept, and skipping that keeps nothing', async (context) => {
  const { code, shown, cwd } = await init(context, '--provider echo', [
    [LABEL, 'skip\r'],
    [KEEP, `${UP}\r`],
  ])
  expect(code).toBe(0)
  expect(shown).toMatch(/3 key +skipped[\s\S]*4 request +echo\/echo-1 200[\s\S]*5 keep +skipped/)
  expect(readdirSync(cwd)).toEqual(['data'])
})

it('an empty key is asked for again', async (context) => {
  const { code, shown } = await init(context, '--provider openai', [
    [HOW, '\r'],
    [PASTE, '\r'],
    [/The key is empty\.[\s\S]*Key: $/, CTRL_C],
  ])
  expect(code).toBe(130)
  expect(shown).not.toContain('standard input')
})

it('another key than the one in .env gets a variable of its own, and the old one stays', async (context) => {
  const cwd = folder({ '.env': 'OPENAI_API_KEY=sk-old\n' })
  const answers: Answer[] = [
    [HOW, `${DOWN}\r`],
    [PASTE, 'sk-new\r'],
    [LABEL, 'skip\r'],
    [KEEP, '\r'],
  ]
  const { code, shown } = await init(context, '--provider openai --skip test,request', answers, {
    cwd,
    env: { OPENAI_API_KEY: 'sk-old' },
  })
  expect(code).toBe(0)
  expect(shown).toContain(`secret.env('OPENAI_API_KEY_2'); the key is in .env`)
  expect(read(cwd, '.env')).toBe('OPENAI_API_KEY=sk-old\nOPENAI_API_KEY_2=sk-new\n')
  expect(read(cwd, 'gateway.config.ts')).toContain(`apiKey: secret.env('OPENAI_API_KEY_2')`)
})

describe('a folder that has a configuration', () => {
  const FILE = `import { defineConfig } from 'hookgate'\nexport default defineConfig({ connections: { other: { provider: 'echo' } } })\n`

  it('keeps it: only the database is offered', async (context) => {
    const cwd = folder({ 'gateway.config.ts': FILE })
    const { code, shown } = await init(
      context,
      '--provider echo',
      [
        [LABEL, '\r'],
        [KEEP, '\r'],
      ],
      { cwd },
    )
    expect(code).toBe(0)
    expect(shown).toContain('the database (the key is sealed; gateway.config.ts exists and is not changed)')
    expect(shown).toMatch(/5 keep +connection \d+ in the database/)
    expect(read(cwd, 'gateway.config.ts')).toBe(FILE)
  })

  it('is refused before the first question when it does not load', async (context) => {
    const cwd = folder({ 'gateway.config.ts': 'export default {{' })
    const { code, shown, unasked } = await init(context, '', [[PROVIDER, CTRL_C]], { cwd })
    expect([code, unasked]).toEqual([1, [PROVIDER]])
    expect(shown).toMatch(/gateway\.config\.ts could not be loaded\.[\s\S]*why[\s\S]*fix/)
    expect(readdirSync(cwd)).toEqual(['gateway.config.ts'])
  })
})
