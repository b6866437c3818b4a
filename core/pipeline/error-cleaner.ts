// Removes secrets from the errors of one call.
import { GatewayError } from '../errors/gateway-error.ts'
import { withoutSecrets } from '../errors/without-secrets.ts'
import { isForeign } from '../records/request-record.ts'
import { credentialsIn, credentialsOf } from '../text/sanitize.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Candidate } from '../types/request/context.ts'

const CREDENTIAL = /^(?:proxy-)?authorization$|^cookie$|api-key$|security-token$/i

export class ErrorCleaner {
  #headers: readonly string[]
  readonly #secret: string | null
  readonly #candidate: Candidate

  /** @param headers those that are sent to the upstream. */
  constructor(headers: readonly string[], secret: string | null, candidate: Candidate) {
    this.#headers = headers
    this.#secret = secret
    this.#candidate = candidate
  }

  /** An upstream may echo what the gateway sent, also values that the provider derived from the secret. */
  clean(error: GatewayErrorShape): GatewayErrorShape {
    const { connection } = this.#candidate
    const sent: Record<string, string> = {}
    const headers = credentialHeaders(this.#headers)
    for (let i = 0; i < headers.length; i += 2) sent[headers[i] as string] = headers[i + 1] as string
    const secrets = [...credentialsOf(connection, this.#secret), ...credentialsIn(sent)]
    return withoutSecrets(GatewayError.from(error), secrets, isForeign(this.#candidate))
  }

  /** Lets go of the other headers: a stream would hold them until it ends. */
  rest(): void {
    this.#headers = credentialHeaders(this.#headers)
  }
}

function credentialHeaders(headers: readonly string[]): readonly string[] {
  let found: readonly string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    if (CREDENTIAL.test(name)) found = found.length === 0 ? [name, value] : [...found, name, value]
  }
  return found
}
