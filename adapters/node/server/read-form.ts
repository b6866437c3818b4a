// Reads a multipart form as it arrives. The bytes of files stay in the chunks of the socket: nothing is copied or written to disk.
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FormBody } from '../../../core/types/operations/operation.ts'
import type { UploadedFile } from '../../../core/types/operations/operations.ts'

const LIMITS = { fields: 200, files: 32, fieldSize: 1024 * 1024, fieldNameSize: 200, headerPairs: 20 }

/** @throws GatewayError 400 for a broken form and for one with too many parts; the error of `chunks` otherwise. */
export async function readForm(chunks: AsyncIterable<Uint8Array>, contentType: string): Promise<FormBody> {
  const fields: [string, string][] = []
  const files: UploadedFile[] = []
  let failure: GatewayError | null = null
  const fail = (message: string): void => {
    failure ??= GatewayError.invalid(null, message)
  }
  const parser = parserOf(contentType)
  const parsed = new Promise<void>((resolve) => {
    parser.on('finish', resolve)
    parser.on('error', (error: Error) => {
      fail(`The form cannot be read: ${error.message}.`)
      resolve()
    })
  })
  parser.on('field', (name, value, nameCut, valueCut) => {
    if (nameCut || valueCut) fail(`The form field \`${name}\` is longer than 1 MiB.`)
    fields.push([name, value])
  })
  parser.on('file', (field, stream, name, _encoding, type) => {
    const kept: Uint8Array[] = []
    let size = 0
    stream.on('data', (chunk: Uint8Array) => {
      kept.push(chunk)
      size += chunk.length
    })
    stream.on('end', () => files.push({ field, name: name ?? '', type: type ?? '', size, chunks: kept }))
    stream.on('error', () => fail('The form ended inside a file.'))
  })
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => fail(`The form has more than ${LIMITS.fields} fields or ${LIMITS.files} files.`))
  for await (const chunk of chunks) {
    if (failure !== null) throw failure
    if (!parser.write(chunk as Buffer)) await drained(parser)
  }
  parser.end()
  await parsed
  if (failure !== null) throw failure
  return { fields, files }
}

/** @throws GatewayError 400 when the content type has no boundary. */
function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS })
  } catch {
    throw GatewayError.invalid(null, 'The `content-type` of the form has no `boundary`.')
  }
}

function drained(parser: BusboyInstance): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      parser.off('drain', done)
      parser.off('finish', done)
      parser.off('error', done)
      resolve()
    }
    parser.on('drain', done)
    parser.on('finish', done)
    parser.on('error', done)
  })
}
