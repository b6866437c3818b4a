// Decodes bytes into text without secrets while they arrive. An end that may be the beginning of a secret waits for the next bytes.
import { secretMask } from './secret-mask.ts'

export class MaskedText {
  readonly #secrets: readonly string[]
  readonly #mask: (text: string) => string
  readonly #decoder = new TextDecoder()
  #held = ''

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
    this.#mask = secretMask(secrets)
  }

  push(chunk: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(chunk, { stream: true })
    const held = Math.max(0, ...this.#secrets.map((secret) => beginningAtEnd(text, secret)))
    this.#held = held === 0 ? '' : text.slice(-held)
    return this.#mask(held === 0 ? text : text.slice(0, -held))
  }

  end(): string {
    const text = this.#held + this.#decoder.decode()
    this.#held = ''
    return this.#mask(text)
  }
}

/** Returns the length of the longest end of the text that begins the secret, but is not all of it. */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length--)
    if (text.endsWith(secret.slice(0, length))) return length
  return 0
}
