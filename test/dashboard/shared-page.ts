// One gateway and one document for the tests of a group: to open a document takes as much time as a page of it.
import { afterAll, beforeAll } from 'vitest'
import type { TestGateway } from '../../adapters/testing/test-gateway.ts'
import { openPage, type PageOptions, type TestPage } from './browser.ts'

export interface SharedPage {
  /** Address of the gateway. */
  readonly origin: string
  readonly opened: TestPage
}

/** Call it in `describe`. The members are there when the tests run. */
export function sharedPage(start: () => Promise<{ t: TestGateway; origin: string }>, options: PageOptions = {}): SharedPage {
  const shared: { -readonly [name in keyof SharedPage]?: SharedPage[name] } = {}
  let gateway: TestGateway
  beforeAll(async () => {
    const { t, origin } = await start()
    gateway = t
    shared.origin = origin
    shared.opened = await openPage(origin, '/', options)
  })
  afterAll(async () => {
    await shared.opened?.close()
    await gateway.close()
  })
  return shared as SharedPage
}
