// The page of a request as a screen reader gets it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fail } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { settledPage } from './axe.ts'
import { BROWSER, openPage } from './browser.ts'

describe.skipIf(BROWSER === null)('the page of a request, read aloud (needs chromium)', () => {
  let t: TestGateway
  let id: string | null
  beforeAll(async () => {
    t = await createTestGateway({ upstream: [fail(503, { message: 'no place' }), fail(503, { message: 'no place' })] })
    await t.post('/api/providers', { provider: 'echo' })
    await t.post('/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['chat/m', 'messages/m', 'echo/echo-1'] })
    const answer = await t.post('/v1/chat/completions', { model: 'coder', messages: [{ role: 'user', content: 'hi' }] })
    await answer.text()
    id = answer.headers.get('x-gateway-request-id')
    await t.untilCommitted(1)
  })
  afterAll(() => t.close())

  it('names its heading, its tabs, each attempt and what it ended in', async () => {
    const { page, close } = await openPage((await t.listen()).url, `/requests/${id}`)
    await settledPage(page)
    const spoken = (await page.locator('main').ariaSnapshot())
      .replace(/\d+(?:\.\d+)? m?s\b/g, 'N ms')
      .replace(/\$\d+\.\d+/, '$N')
      .replace(/time: [\d:]+/, 'time: T')
    expect(spoken).toMatchInlineSnapshot(`
      "- main:
        - heading "Request" [level=1]
        - link "All requests":
          - /url: /requests
        - paragraph:
          - text: "200"
          - strong: coder
          - text: → echo/echo-1 · N ms · $N ·
          - time: T
        - tablist:
          - tab "Attempts" [selected]
          - tab "Summary"
          - tab "Policy"
          - tab "Bodies"
        - paragraph: gateway N ms
        - paragraph: 1 chat/m 503 N ms
        - paragraph: status → next target
        - paragraph: The upstream answered 503 (server_error). Its own words are kept with the bodies, where those are logged.
        - paragraph: 2 messages/m 503 N ms
        - paragraph: status → next target
        - paragraph: The upstream answered 503 (api_error). Its own words are kept with the bodies, where those are logged.
        - paragraph: 3 echo/echo-1 200 N ms
        - paragraph: returned
        - button "Show as table"
        - button "Copy link"
        - button "Export"
        - button "Delete""
    `)
    await page.getByRole('button', { name: 'Show as table' }).click()
    const table = (await page.locator('main table').ariaSnapshot()).replace(/\d+(?:\.\d+)? m?s\b/g, 'N ms')
    expect(table).toMatchInlineSnapshot(`
      "- table "Attempts":
        - rowgroup:
          - row "# Target Connection Status Began after First content Waited Format Time Cost Verdict":
            - columnheader "#"
            - columnheader "Target"
            - columnheader "Connection"
            - columnheader "Status"
            - columnheader "Began after"
            - columnheader "First content"
            - columnheader "Waited"
            - columnheader "Format"
            - columnheader "Time"
            - columnheader "Cost"
            - columnheader "Verdict"
        - rowgroup:
          - row "1 chat/m chat 503 N ms — — chat, bytes N ms — status → next target":
            - cell "1"
            - cell "chat/m"
            - cell "chat"
            - cell "503"
            - cell "N ms"
            - cell "—"
            - cell "—"
            - cell "chat, bytes"
            - cell "N ms"
            - cell "—"
            - cell "status → next target"
          - row "2 messages/m messages 503 N ms — — messages, events N ms — status → next target":
            - cell "2"
            - cell "messages/m"
            - cell "messages"
            - cell "503"
            - cell "N ms"
            - cell "—"
            - cell "—"
            - cell "messages, events"
            - cell "N ms"
            - cell "—"
            - cell "status → next target"
          - row "3 echo/echo-1 echo 200 N ms — — chat N ms $0.000007 returned":
            - cell "3"
            - cell "echo/echo-1"
            - cell "echo"
            - cell "200"
            - cell "N ms"
            - cell "—"
            - cell "—"
            - cell "chat"
            - cell "N ms"
            - cell "$0.000007"
            - cell "returned""
    `)
    await close()
  })
})
