// A POST whose answer is text, such as lines of JSON.
import { mount } from '../app/mount.ts'
import { ApiError } from './error.ts'
import { token } from './session.ts'

/** @throws ApiError */
export async function postText(path: string, body: unknown): Promise<string> {
  const response = await fetch(mount + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token.value !== null && { authorization: `Bearer ${token.value}` }) },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw ApiError.unreachable(error)
  })
  if (!response.ok) throw ApiError.from(response, await response.json().catch(() => null))
  return response.text()
}
