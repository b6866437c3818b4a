// Converts vectors between numbers and base64 of little-endian float32.
import { base64Bytes, bytesToBase64 } from '../../../core/text/bytes.ts'
import { missing } from '../shared/answers.ts'

export function toBase64(values: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(values.length * 4))
  for (let i = 0; i < values.length; i++) view.setFloat32(i * 4, values[i] as number, true)
  return bytesToBase64(new Uint8Array(view.buffer))
}

/** Returns null when the text is not base64 of whole float32 values. */
export function fromBase64(text: string): number[] | null {
  const bytes = base64Bytes(text)
  if (bytes === null || bytes.length % 4 !== 0) return null
  const view = new DataView(bytes.buffer)
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true))
}

/** @throws GatewayError 502 when the upstream's base64 is broken. */
export function inEncoding(vector: readonly number[] | string, encoding: 'float' | 'base64'): readonly number[] | string {
  if (typeof vector !== 'string') return encoding === 'float' ? vector : toBase64(vector)
  if (encoding === 'base64') return vector
  const values = fromBase64(vector)
  if (values === null) throw missing('data.0.embedding')
  return values
}
