// Validates GATEWAY_JWT_SECRET. Anyone who guesses it has operator access.
import { encodeUtf8 } from '../../core/text/bytes.ts'

const MIN_BYTES = 32
const MIN_DIFFERENT = 8
const PLACEHOLDER =
  /change[-_ ]?(?:me|it|this)|placeholder|example|your[-_ ](?:\w+[-_ ])?(?:secret|key)|(?:insert|replace)[-_ ]|<|\.{3}|…/i

/** @throws Error naming the variable, never its value. */
export function jwtSecret(text: string): Uint8Array {
  const bytes = encodeUtf8(text)
  const complaint =
    bytes.length < MIN_BYTES
      ? `is shorter than ${MIN_BYTES} bytes`
      : new Set(text).size < MIN_DIFFERENT || PLACEHOLDER.test(text)
        ? 'looks like a placeholder'
        : null
  if (complaint === null) return bytes
  throw new Error(
    `GATEWAY_JWT_SECRET ${complaint}. Set it to something like the output of \`openssl rand -base64 32\`, or unset it: then it is derived from the master key.`,
  )
}
