// Writes a multipart/form-data body (RFC 7578). The bytes of files are not copied.
import { encodeUtf8 } from '../../text/bytes.ts'
import type { FormBody } from '../../types/operations/operation.ts'

/** @param boundary text that does not occur in the fields or files: a random id. */
export function formBytes({ fields, files }: FormBody, boundary: string): { bytes: Uint8Array[]; contentType: string } {
  const bytes: Uint8Array[] = []
  const head = (text: string) => bytes.push(encodeUtf8(`--${boundary}\r\ncontent-disposition: form-data; ${text}\r\n`))
  for (const [name, value] of fields) {
    head(`name="${quoted(name)}"\r\n\r\n${value}`)
  }
  for (const { field, name, type, chunks } of files) {
    head(`name="${quoted(field)}"; filename="${quoted(name)}"\r\ncontent-type: ${oneLine(type)}\r\n`)
    bytes.push(...chunks, encodeUtf8('\r\n'))
  }
  bytes.push(encodeUtf8(`--${boundary}--\r\n`))
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` }
}

/** Browsers escape these three characters in names. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function oneLine(type: string): string {
  return /^[\x21-\x7e]+(?:;[\x20-\x7e]+)?$/.test(type) ? type : 'application/octet-stream'
}
