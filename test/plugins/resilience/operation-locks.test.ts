// A model that refuses one endpoint still serves the others: locks of models are kept per operation.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { choose, fail, type Step, text } from '../../../adapters/testing/script.ts'

let t: TestGateway
afterEach(() => t.close())

const refusing = (step: Step): Step => choose(({ path }) => (path.endsWith('/embeddings') ? step : text('hi')))
const embed = () => t.post('/v1/embeddings', { model: 'chat/m', input: 'a' })
const chat = () => t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
const calls = () => t.upstream.requests.map(({ path }) => path.split('/').at(-1))

it.each([
  [403, 'You have no access to this model.'],
  [404, 'The model `m` does not exist.'],
  [429, 'Too many requests for this model.'],
])('%i on embeddings does not lock the model for chat', async (status, message) => {
  t = await createTestGateway({ upstream: [refusing(fail(status, { message }))] })
  expect((await embed()).status).not.toBe(200)
  expect((await chat()).status).toBe(200)
  expect((await embed()).status).not.toBe(200)
  // The second call of embeddings met the lock.
  expect(calls()).toEqual(['embeddings', 'completions'])
})

it.each([404, 501])('%i without a word about the model locks nothing: the upstream has no such route', async (status) => {
  t = await createTestGateway({ upstream: [refusing(fail(status, { message: 'Not Found' }))] })
  for (let count = 0; count < 8; count++) await embed()
  expect((await chat()).status).toBe(200)
  expect(calls().filter((name) => name === 'embeddings')).toHaveLength(8)
})
