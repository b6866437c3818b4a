// Every field of every form on the pages Routing, Connections, Keys, Webhooks, Spend and Playground, sent wrong: the refusal stands at
// the field that is wrong, and the text that was typed stays.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { parseScript } from '../../adapters/simulation/script.ts'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, visit } from './browser.ts'
import { byArea } from './page-list.ts'
import { sharedPage } from './shared-page.ts'

interface Form {
  readonly path: string
  /** Buttons that open the form. */
  readonly open?: readonly string[]
  readonly submit: string
  /** Values of other fields, without which nothing is sent. */
  readonly fill?: Readonly<Record<string, string>>
  /** A wrong value for each field. A select gets an option that its list does not have. */
  readonly wrong: readonly (readonly [label: string, value: string])[]
}

const LONG = 'x'.repeat(600)
const NEW_KEY: Form['wrong'] = [
  ['Label', LONG],
  ['Models', LONG],
  ['Requests per minute', '-1'],
  ['Tokens per minute', '1.5'],
  ['Budget of a session, USD', '-1'],
  ['Cost center', 'Ärger'],
  ['Expires, UTC', '2020-01-01T00:00'],
]
const CONNECTION: Form['wrong'] = [
  ['Label', ' '],
  ['Credential', 'with a space'],
  ['Address', 'no address'],
  ['Format', 'nope'],
  ['Default model', LONG],
  ['Models', LONG],
  ['Priority', '1000000000'],
  ['Running at most', '-1'],
  ['Proxy', 'no proxy'],
]
const MODEL: Form['wrong'] = [
  ['Name', 'with a space'],
  ['Strategy', 'nope'],
  ['Answers with', 'nope'],
  ['Target 1', 'nowhere/m'],
  ['Description', 'x'.repeat(5000)],
  ['Attempts at most', '-1'],
  ['Seconds that a session stays', '-1'],
]

const FORMS: Readonly<Record<string, Form>> = {
  'a new key': { path: '/keys?add=1', submit: 'Create', fill: { Label: 'one' }, wrong: NEW_KEY },
  'a key': { path: '/keys?open=1', open: ['Edit'], submit: 'Save', wrong: NEW_KEY },
  'a new connection': {
    path: '/connections?add=openai',
    submit: 'Add and test',
    fill: { Key: 'sk-of-a-test' },
    wrong: [
      ['Label', ' '],
      ['Key', 'with a space'],
      ['Address', 'no address'],
    ],
  },
  'a connection to another server': {
    path: '/connections?add=1',
    open: ['Another server with one of the four formats'],
    submit: 'Add and test',
    fill: { Provider: 'mine', Address: 'https://models.example.com/v1' },
    wrong: [
      ['Provider', 'Not Valid'],
      ['Format', 'nope'],
      ['Label', ' '],
      ['Key', 'with a space'],
      ['Address', 'no address'],
    ],
  },
  'a connection': { path: '/connections?open=5', open: ['Edit'], submit: 'Save', wrong: CONNECTION },
  'a new endpoint': {
    path: '/webhooks?add=1',
    submit: 'Add',
    fill: { Address: 'https://hooks.example.com/new' },
    wrong: [
      ['Address', 'no address'],
      ['Format', 'nope'],
    ],
  },
  'a redelivery': {
    path: '/webhooks?tab=deliveries',
    open: ['summary Send again what an endpoint missed'],
    submit: 'Send again',
    wrong: [
      ['To endpoint', '!'],
      ['Since, UTC', ''],
      ['Which deliveries', 'nope'],
    ],
  },
  'a check of a signature': {
    path: '/webhooks?tab=signature',
    submit: 'Check',
    fill: { 'Secret of the endpoint': 'whsec_c2VjcmV0', 'webhook-timestamp': '1795291200', 'webhook-signature': 'v1,abc=' },
    wrong: [
      ['Secret of the endpoint', 'whsec_%%%'],
      ['webhook-timestamp', 'today'],
      ['webhook-signature', 'abc'],
    ],
  },
  'a new budget': {
    path: '/spend?tab=budgets&add=1',
    submit: 'Create',
    fill: { 'Limit, USD': '5', Window: 'yearly' },
    wrong: [
      ['Window', 'nope'],
      ['Limit, USD', '-1'],
      ['Of', 'nope'],
    ],
  },
  'a new budget of a key': {
    path: '/spend?tab=budgets&add=1',
    submit: 'Create',
    fill: { Of: 'key', 'Limit, USD': '5' },
    wrong: [['Key', '99']],
  },
  'a budget': {
    path: '/spend?tab=budgets&open=1&do=edit',
    submit: 'Save',
    wrong: [
      ['Window', 'nope'],
      ['Limit, USD', '-1'],
    ],
  },
  'an increase': {
    path: '/spend?tab=budgets&open=1&do=increase',
    submit: 'Raise',
    fill: { 'By, USD': '5' },
    wrong: [
      ['By, USD', '-1'],
      ['Until, UTC', '2020-01-01T00:00'],
      ['Reason', LONG],
    ],
  },
  'a price': {
    path: '/spend?tab=prices&set=new',
    submit: 'Set the price',
    fill: { Model: 'echo/echo-1', 'In, USD per 1M tokens': '1' },
    wrong: [
      ['Model', LONG],
      ['In, USD per 1M tokens', '-1'],
      ['Out, USD per 1M tokens', '-1'],
      ['Cache read, USD per 1M tokens', '-1'],
      ['Cache write, USD per 1M tokens', '-1'],
    ],
  },
  'a virtual model': { path: '/routing/coder', submit: 'Save', wrong: MODEL },
  'a virtual model with a judge': {
    path: '/routing/panel',
    submit: 'Save',
    wrong: [
      ['Judge', 'nowhere/m'],
      ['Answers needed', '0'],
    ],
  },
  'a virtual model as text': {
    path: '/routing/coder?as=text',
    submit: 'Save',
    wrong: [
      ['The virtual model as JSON', '{"name":'],
      ['The virtual model as JSON', '{"name":"coder","strategy":"nope","targets":["echo/echo-1"]}'],
      ['The virtual model as JSON', '{"name":"coder","strategy":"failover","targets":["nowhere/m"]}'],
    ],
  },
  'a simulation': { path: '/routing/coder', submit: 'Run', wrong: [['Requests, one a second', '-1']] },
  'a simulation by hand': {
    path: '/routing/coder',
    open: ['summary Script'],
    submit: 'Run',
    wrong: [['One JSON object a line', 'no JSON']],
  },
  'a run in the playground': {
    path: '/playground',
    submit: 'Run',
    wrong: [
      ['Model', 'nowhere/m'],
      ['As key', '99'],
      ['Request, without model and stream', 'no JSON'],
      ['Request, without model and stream', '{"messages":5}'],
    ],
  },
}

describe.skipIf(BROWSER === null)('a refusal stands at its field (needs chromium)', () => {
  const shared = sharedPage(
    async () => {
      const t = await createTestGateway({
        env: { PRICING_SYNC_ENABLED: 'false' },
        ports: {
          simulate: async ({ script }) => {
            try {
              parseScript(script)
            } catch (error) {
              return { fault: 'script', message: (error as Error).message }
            }
            return { text: '{"summary":{}}' }
          },
        },
      })
      const made = [
        await t.post('/api/providers', { provider: 'echo', label: 'main' }),
        await t.post('/api/keys', { label: 'app' }),
        await t.post('/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['echo/echo-1'] }),
        await t.post('/api/virtual-models', { name: 'panel', strategy: 'fusion', targets: ['echo/echo-1', 'chat/m'] }),
        await t.post('/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 10 }),
        await t.post('/api/webhooks/endpoints', { url: 'https://hooks.example.com/in' }),
      ]
      expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201])
      return { t, origin: (await t.listen()).url }
    },
    { expected: /\b4\d\d\b/ },
  )

  it.each(byArea(Object.entries(FORMS).map(([name, { path }]) => [name, path])))('of %s', async (_, forms) => {
    for (const [name] of forms) {
      await refused(shared.opened.page, name, FORMS[name] as Form)
      // The next form may be on the same page.
      await visit(shared.opened.page, '/')
    }
    await shared.opened.check()
  })
})

async function refused(page: Page, form: string, { path, open = [], submit, fill = {}, wrong }: Form): Promise<void> {
  await visit(page, path)
  for (const name of open) {
    if (name.startsWith('summary ')) await page.locator('summary', { hasText: name.slice(8) }).click()
    else await page.getByRole('button', { name, exact: true }).click()
  }
  for (const [label, value] of Object.entries(fill)) await type(control(page, label), value)
  for (const [label, value] of wrong) {
    const field = page.locator('.form .field', { has: page.getByLabel(label, { exact: true }) })
    const before = await control(page, label).inputValue()
    await type(control(page, label), value)
    await page.getByRole('button', { name: submit, exact: true }).click()
    await field
      .getByRole('alert')
      .waitFor({ timeout: 3000 })
      .catch(() => expect.fail(`${form}: no refusal at “${label}” for ${value.slice(0, 40)}`))
    expect(await page.locator('.form').getByRole('alert').count(), `${form}: ${label}`).toBe(1)
    expect(await control(page, label).inputValue(), `${form}: ${label}`).toBe(value)
    await type(control(page, label), before)
  }
}

function control(page: Page, label: string): Locator {
  return page.locator('.form').getByLabel(label, { exact: true })
}

async function type(at: Locator, value: string): Promise<void> {
  if ((await at.evaluate((element) => element.tagName)) !== 'SELECT') return at.fill(value)
  await at.evaluate((element, given) => {
    const select = element as HTMLSelectElement
    if ([...select.options].some((option) => option.value === given)) return
    const option = document.createElement('option')
    option.value = given
    select.append(option)
  }, value)
  await at.selectOption(value)
}
