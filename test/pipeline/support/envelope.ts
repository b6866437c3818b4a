// The error envelope of every dialect: four members are always present, plus those that the dialect's SDK reads.
import { expect } from 'vitest'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { wordCode } from '../../support/google-error.ts'
import type { Endpoint } from './endpoints.ts'

export interface Envelope {
  message: string
  type: string
  param: string | null
  code: string | null
}

/** @throws when the text is not the envelope of the dialect. */
export function envelopeOf(dialect: Dialect, text: string): Envelope {
  const body = JSON.parse(text) as { error: Envelope; type?: string; request_id?: string }
  const { error } = body
  expect(Object.keys(error)).toEqual(expect.arrayContaining(['message', 'type', 'param', 'code']))
  expect(typeof error.message).toBe('string')
  expect(error.message.length).toBeGreaterThan(0)
  expect(error.message.length).toBeLessThanOrEqual(1000)
  expect(error.message).not.toMatch(/[\r\n]|\bat \S+:\d+:\d+|node_modules|\/home\//)
  expect(typeof error.type).toBe('string')
  // Google's SDK reads the status where the other dialects have a text. A chat route answers a Google body in that form.
  if (dialect === 'generate_content' || (dialect === 'chat' && typeof error.code === 'number')) {
    expect(error).toMatchObject({ code: expect.any(Number), status: expect.stringMatching(/^[A-Z_]+$/) })
    error.code = wordCode(error) as string | null
  }
  for (const value of [error.param, error.code]) expect(value === null || typeof value === 'string').toBe(true)
  if (dialect === 'messages') expect(body).toMatchObject({ type: 'error', request_id: expect.stringMatching(/^req_/) })
  return error
}

/** Returns the dialect of a path, for errors before the body is known. */
export function routeDialect(endpoint: Endpoint): Dialect {
  return endpoint.name.startsWith('chat') ? 'chat' : endpoint.caller
}
