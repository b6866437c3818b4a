// Clients that check whether the gateway is there before their first request.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { rawHttp } from './support.ts'

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway({ env: { REQUIRE_API_KEY: 'true' } })
})
afterAll(() => t.close())

it.each(['/', '/api/hello'])('HEAD %s is 200 without a body and without a key, from anywhere', async (path) => {
  const { port } = await t.listen()
  const answer = await rawHttp(port, `HEAD ${path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer).toMatch(/\r\n\r\n$/)
  expect(await (await t.fetch(path)).json()).toEqual({ status: 'ok' })
})
