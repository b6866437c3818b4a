// Answers with a file of a folder: with its tag, in parts, and never with a file outside of the folder.
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { spanOf } from './range.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.sh': 'text/x-shellscript; charset=utf-8',
}

/** Returns null when the folder has no such file. */
export async function fileAnswer(folder: string, names: readonly string[], request: Request): Promise<Response | null> {
  const path = await inside(folder, names)
  const file = path === null ? null : await open(path).catch(() => null)
  if (path === null || file === null) return null
  try {
    const facts = await file.stat()
    if (!facts.isFile()) return await closed(file, null)
    const tag = `"${facts.size.toString(36)}-${Math.trunc(facts.mtimeMs).toString(36)}"`
    return await answer(file, facts.size, tag, TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream', request)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function inside(folder: string, names: readonly string[]): Promise<string | null> {
  try {
    const root = await realpath(folder)
    const path = await realpath(join(root, ...names))
    return path.startsWith(root.endsWith(sep) ? root : root + sep) ? path : null
  } catch {
    return null
  }
}

async function answer(
  file: FileHandle,
  size: number,
  tag: string,
  type: string,
  { headers, method }: Request,
): Promise<Response> {
  const shared = { etag: tag, 'cache-control': 'public, max-age=300', 'accept-ranges': 'bytes' }
  if (matches(headers.get('if-none-match'), tag)) return closed(file, new Response(null, { status: 304, headers: shared }))
  const condition = headers.get('if-range')
  const span = method === 'GET' && (condition === null || condition === tag) ? spanOf(headers.get('range'), size) : null
  if (span === 'unsatisfiable')
    return closed(file, new Response(null, { status: 416, headers: { ...shared, 'content-range': `bytes */${size}` } }))
  const length = span === null ? size : span.end - span.start + 1
  const whole = { ...shared, 'content-type': type, 'content-length': String(length) }
  if (method === 'HEAD' || length === 0) return closed(file, new Response(null, { headers: whole }))
  const body = Readable.toWeb(file.createReadStream(span ?? {})) as ReadableStream<Uint8Array>
  return span === null
    ? new Response(body, { headers: whole })
    : new Response(body, { status: 206, headers: { ...whole, 'content-range': `bytes ${span.start}-${span.end}/${size}` } })
}

function matches(header: string | null, tag: string): boolean {
  if (header === null) return false
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag)
}

async function closed<T>(file: FileHandle, value: T): Promise<T> {
  await file.close()
  return value
}
