import { describe, expect, it } from 'vitest'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { driver, thrown } from './support.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const judge = (body: unknown) => driver.validate?.(wireBody(typeof body === 'string' ? body : JSON.stringify(body)))
const param = (body: unknown) => {
  const error = thrown(() => judge(body))
  expect(error.status).toBe(400)
  expect(error.code).toBe(null)
  return error.param
}

describe('chat request validation', () => {
  it('messages is required and a non-empty array', () => {
    for (const messages of [undefined, null, [], 'hi', {}, { 0: MESSAGES[0] }, 7])
      expect(param({ model: 'm', messages })).toBe('messages')
    expect(param('{"messages":[ \n ]}')).toBe('messages')
    expect(() => judge({ messages: MESSAGES })).not.toThrow()
  })

  it.each([
    ['temperature', [-0.1, 2.1, '1', true, [], {}], [0, 2, 0.5, null]],
    ['top_p', [-0.1, 1.01, '0.5'], [0, 1, null]],
    ['n', [0, -1, 1.5, '1', false], [1, 3, null]],
    ['max_tokens', [0, 1.5, '10'], [1, 1e6, null]],
    ['max_completion_tokens', [0, -5, '10'], [1, null]],
  ])('%s is checked, a number as string is a violation, null is omission', (field, bad, good) => {
    for (const value of bad) expect(param({ messages: MESSAGES, [field]: value }), JSON.stringify(value)).toBe(field)
    for (const value of good) expect(() => judge({ messages: MESSAGES, [field]: value })).not.toThrow()
  })

  it('the first violation in the order of the table wins, not of the body', () => {
    expect(param('{"max_completion_tokens":0,"max_tokens":0,"n":0,"top_p":9,"temperature":9,"messages":[]}')).toBe('messages')
    expect(param({ max_completion_tokens: 0, max_tokens: 0, n: 0, top_p: 9, temperature: 9, messages: MESSAGES })).toBe(
      'temperature',
    )
    expect(param({ max_completion_tokens: 0, max_tokens: 0, n: 0, messages: MESSAGES })).toBe('n')
  })

  it('max_tokens null with max_completion_tokens 0 names max_completion_tokens', () => {
    expect(param({ messages: MESSAGES, max_tokens: null, max_completion_tokens: 0 })).toBe('max_completion_tokens')
  })

  it('nothing else is validated', () => {
    expect(() => judge({ messages: MESSAGES, seed: 'x', foo: 1, frequency_penalty: 99 })).not.toThrow()
  })

  it('a body with contents and no messages skips the table and is answered as generate-content', () => {
    const body = wireBody(JSON.stringify({ contents: [], temperature: 99 }))
    expect(() => driver.validate?.(body)).not.toThrow()
    const route = driver.routes[0]
    expect(route?.dialectOf?.(body)).toBe('generate_content')
    expect(route?.dialectOf?.(wireBody('{"contents":[1],"messages":null}'))).toBe('generate_content')
    expect(route?.dialectOf?.(wireBody('{"contents":[1],"messages":[]}'))).toBe('chat')
    expect(route?.dialectOf?.(wireBody('{"contents":{}}'))).toBe('chat')
  })

  it('the route takes a JSON body and names text models', () => {
    expect(driver.routes).toMatchObject([{ path: '/v1/chat/completions', operation: 'chat', bodyLimit: 'json', models: 'text' }])
  })
})
