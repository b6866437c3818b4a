// Saves an answer of the control plane as a file. A link could not send the session.
import { mount } from '../app/mount.ts'
import { ApiError } from './error.ts'
import { token } from './session.ts'

/** @param path with its query @throws ApiError */
export async function download(path: string, name: string): Promise<void> {
  const response = await fetch(mount + path, {
    headers: token.value === null ? {} : { authorization: `Bearer ${token.value}` },
  }).catch((error: unknown) => {
    throw ApiError.unreachable(error)
  })
  if (!response.ok) throw ApiError.from(response, await response.json().catch(() => null))
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
