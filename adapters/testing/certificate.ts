// Makes X.509 certificates at run time, so that tests of TLS need no files and no openssl. They are self-signed, P-256; options set a
// wrong name or wrong dates.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  /** In PEM. */
  readonly key: string
  readonly cert: string
}

export interface CertificateOptions {
  /** A name or an IPv4 address; default `localhost`. */
  host?: string
  /** Default: an hour ago; `notAfter`: in a day. */
  notBefore?: Date
  notAfter?: Date
}

export function certificate(options: CertificateOptions = {}): Certificate {
  const { host = 'localhost', notBefore = hoursFromNow(-1), notAfter = hoursFromNow(24) } = options
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const name = der(0x30, der(0x31, der(0x30, oid(COMMON_NAME), der(0x0c, Buffer.from(host)))))
  const tbs = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ALGORITHM,
    name,
    der(0x30, time(notBefore), time(notAfter)),
    name,
    (publicKey as KeyObject).export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension(BASIC_CONSTRAINTS, der(0x30, der(0x01, Buffer.from([0xff])))), altName(host))),
  )
  const signature = sign('sha256', tbs, privateKey)
  const whole = der(0x30, tbs, ALGORITHM, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const base64 = whole.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  }
}

const COMMON_NAME = '2.5.4.3'
const ALT_NAME = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'
/** ecdsa-with-SHA256. */
const ALGORITHM = der(0x30, oid('1.2.840.10045.4.3.2'))

function altName(host: string): Buffer {
  const address = /^\d+\.\d+\.\d+\.\d+$/.test(host)
  const entry = address ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))
  return extension(ALT_NAME, der(0x30, entry))
}

function extension(id: string, value: Buffer): Buffer {
  return der(0x30, oid(id), der(0x04, value))
}

/** UTCTime: two digits of the year are enough until 2049. */
function time(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`))
}

function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number) as [number, number, ...number[]]
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const out = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) out.unshift((left & 0x7f) | 0x80)
  return out
}

function der(tag: number, ...pieces: Buffer[]): Buffer {
  const content = Buffer.concat(pieces)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function hoursFromNow(hours: number): Date {
  return new Date(Date.now() + hours * 3_600_000)
}
