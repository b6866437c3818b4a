// The checks that every page of these tests gets: each finds what it is there for.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { BROWSER, openPage } from './browser.ts'

const KEY = 'gw_0123456789abcdefghijklmn'

describe.skipIf(BROWSER === null)('a page of the dashboard fails its test (needs chromium)', () => {
  let t: TestGateway
  let origin: string
  beforeAll(async () => {
    t = await createTestGateway()
    origin = (await t.listen()).url
  })
  afterAll(() => t.close())

  it.each([
    ['when it keeps something in localStorage', "localStorage.setItem('draft', 'x')", 'localStorage draft is stored'],
    ['when it keeps something in sessionStorage', "sessionStorage.setItem('key', 'x')", 'sessionStorage key is stored'],
    ['when it sets a cookie', "document.cookie = 'a=b'", 'cookie a=b is stored'],
    [
      'when it makes a database',
      "new Promise((done) => (indexedDB.open('d').onsuccess = done)).then(() => 0)",
      'database d is stored',
    ],
    ['when it keeps answers in a cache', "caches.open('c').then(() => 0)", 'cache c is stored'],
    [
      'when it keeps another preference',
      `localStorage.setItem('preferences', '{"theme":"dark","last_key":"x"}')`,
      'the preference last_key is stored',
    ],
    [
      'when a preference is a secret',
      `localStorage.setItem('preferences', '{"columns":"${KEY}"}')`,
      'a secret among the preferences',
    ],
    [
      'when a secret is in its address',
      `history.pushState(null, '', '/keys?q=${KEY}')`,
      `a secret in the address /keys?q=${KEY}`,
    ],
    ['when a secret was in its address', `history.pushState(null, '', '/#${KEY}'); history.replaceState(null, '', '/')`, KEY],
    ['when it asks for an address with a secret', `fetch('/api/keys?access_token=abc').then(() => 0)`, 'access_token=abc'],
    ['when a secret stays in its document', `document.body.append('${KEY}')`, `a secret in the document: ${KEY}`],
  ])('%s', async (_, does, problem) => {
    const { page, close } = await openPage(origin, '/keys')
    await page.evaluate(does)
    const { actual } = (await close().catch((error: unknown) => error)) as { actual: string[] }
    expect(actual.join('\n')).toContain(problem)
  })
})
