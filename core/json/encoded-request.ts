// Makes the wire request of an encoder. The body of a large request is written in several turns of the event loop.
import type { CodecContext, EncodedRequest, WireBody } from '../types/request/dialect.ts'
import { jsonBytes } from './json-bytes.ts'
import { UNLIMITED } from './json-scan.ts'
import { stringify } from './raw-json.ts'
import { scanInTurns } from './scan-in-turns.ts'
import { wireBody, writtenBody } from './wire-body.ts'
import { writeInTurns } from './write-in-turns.ts'

type Value = Readonly<Record<string, unknown>>

/** For a value that contains no text which the caller sent as JSON text, such as tool arguments. It is not scanned again. */
export function encodedRequest(path: string, headers: string[], value: Value, codec: CodecContext): EncodedRequest {
  if (codec.large !== true) return { path, headers, body: writtenBody(jsonBytes(value)) }
  return new LargeRequest(path, headers, value, false)
}

/** For a value with such texts as RawJson. @throws GatewayError 400 for a text that repeats a member. */
export function rawRequest(path: string, headers: string[], value: Value, codec: CodecContext): EncodedRequest {
  if (codec.large !== true) return { path, headers, body: wireBody(jsonBytes(value, stringify)) }
  return new LargeRequest(path, headers, value, true)
}

class LargeRequest implements EncodedRequest {
  path: string
  headers: string[]
  readonly #value: Value
  readonly #raw: boolean
  #body: WireBody | null = null

  constructor(path: string, headers: string[], value: Value, raw: boolean) {
    this.path = path
    this.headers = headers
    this.#value = value
    this.#raw = raw
  }

  get body(): WireBody {
    this.#body ??= this.#raw ? wireBody(jsonBytes(this.#value, stringify)) : writtenBody(jsonBytes(this.#value))
    return this.#body
  }

  bodyInTurns: NonNullable<EncodedRequest['bodyInTurns']> = async (turns) => {
    const bytes = await writeInTurns(this.#value, turns)
    this.#body = this.#raw ? wireBody(bytes, await scanInTurns(bytes, UNLIMITED, turns)) : writtenBody(bytes)
    return this.#body
  }
}
