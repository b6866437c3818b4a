// The typed client of the control plane. Its types come from the gateway's OpenAPI document (`npm run gen:api`).
import createClient, { type Middleware } from 'openapi-fetch'
import { mount } from '../app/mount.ts'
import { ApiError } from './error.ts'
import { timedFetch } from './gateway-time.ts'
import type { paths } from './schema.d.ts'
import { signedOut, token } from './session.ts'

/** A 401 of these means a wrong password. */
const LOGINS = new Set(['/api/login', '/api/auth/login'])

const authorized: Middleware = {
  onRequest({ request }) {
    if (token.value !== null) request.headers.set('authorization', `Bearer ${token.value}`)
    return request
  },
  onResponse({ response, schemaPath }) {
    if (response.status === 401 && !LOGINS.has(schemaPath)) signedOut.value = true
  },
}

export const api = createClient<paths>({ baseUrl: location.origin + mount, fetch: timedFetch })
api.use(authorized)

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** Returns the answer of a call. @throws ApiError with the server's message and the field that is wrong */
export async function answerOf<T>(call: Promise<Answer<T>>): Promise<T> {
  const answer = await call.catch((error: unknown) => {
    throw ApiError.unreachable(error)
  })
  if (answer.error !== undefined || !answer.response.ok) throw ApiError.from(answer.response, answer.error)
  return answer.data as T
}
