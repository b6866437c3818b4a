// Signs a request for AWS with Signature Version 4. The signer is loaded with the first request that needs one.
import { concatBytes } from '../../../core/text/bytes.ts'
import type { WireRequest } from '../../../core/types/ports/ports.ts'

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

export interface Signing {
  readonly keys: AwsKeys
  readonly service: string
  readonly region: string
  /** Epoch ms. */
  readonly now: number
  /** True: every header is signed, also those that proxies may change. Default false. */
  readonly allHeaders?: boolean
  /** True: the path of the address is in the signature as it is. All services but S3 encode it once more. Default false. */
  readonly singleEncode?: boolean
}

/** Adds `x-amz-date`, `x-amz-security-token` and `authorization`. */
export async function signed(wire: Pick<WireRequest, 'method' | 'url' | 'headers' | 'body'>, given: Signing): Promise<void> {
  const { AwsV4Signer } = await import('aws4fetch')
  const { keys, service, region, now, allHeaders = false, singleEncode = false } = given
  const body = wire.body === null ? null : concatBytes(wire.body)
  const signer = new AwsV4Signer({
    method: wire.method,
    url: wire.url,
    headers: pairs(wire.headers),
    body: body as BodyInit | null,
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    ...(keys.sessionToken === undefined ? {} : { sessionToken: keys.sessionToken }),
    service,
    region,
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    allHeaders,
    singleEncode,
  })
  const { headers } = await signer.sign()
  for (const name of ['x-amz-date', 'x-amz-security-token', 'authorization']) {
    const value = headers.get(name)
    if (value !== null) wire.headers.push(name, value)
  }
}

/** Headers that hops on the way may change are not signed. */
const CHANGEABLE = new Set(['accept', 'accept-encoding', 'user-agent', 'connection'])

function pairs(flat: readonly string[]): [string, string][] {
  const list: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2)
    if (!CHANGEABLE.has((flat[i] as string).toLowerCase())) list.push([flat[i] as string, flat[i + 1] as string])
  return list
}
