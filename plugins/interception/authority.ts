// The CA of this installation and the certificates that it signs. Its key is readable by its owner only, and it is limited to the
// intercepted hosts: a stolen key cannot imitate another one.
import { createHash, createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NAME_CONSTRAINTS, permittedHosts } from './name-constraints.ts'

export interface Authority {
  readonly path: string
  readonly pem: string
  /** SHA-256 in hex. */
  readonly fingerprint: string
  /** Epoch ms. */
  readonly expiresAt: number
  /** Returns a certificate of this host. It is kept until its last day. */
  leaf(host: string): Promise<Leaf>
}

export interface Leaf {
  readonly key: string
  /** The certificate, and that of the CA. */
  readonly cert: string
}

const DAY_MS = 86_400_000
const CA_DAYS = 730
/** A CA with less time left is replaced. */
const CA_LEAST_DAYS = 30
const LEAF_DAYS = 30
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Returns the kept CA, or null: there is none, it expires soon, or it is not for all these hosts. */
export async function keptAuthority(folder: string, hosts: readonly string[], now: () => number): Promise<Authority | null> {
  try {
    const [pem, key, limits] = await Promise.all(
      ['ca.pem', 'ca.key', 'ca.json'].map((name) => readFile(join(folder, name), 'utf8')),
    )
    const known = (JSON.parse(limits as string) as { hosts: string[] }).hosts
    const found = authority(folder, pem as string, key as string, now)
    const fits = found.expiresAt - now() > CA_LEAST_DAYS * DAY_MS && hosts.every((host) => known.includes(host))
    return fits ? found : null
  } catch {
    return null
  }
}

/** Makes and keeps a new CA. */
export async function newAuthority(folder: string, hosts: readonly string[], now: () => number): Promise<Authority> {
  const x509 = await library()
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const name = `CN=hookgate ${randomBytes(4).toString('hex')}, O=hookgate interception`
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(now(), CA_DAYS),
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      new x509.Extension(NAME_CONSTRAINTS, true, permittedHosts(hosts)),
    ],
  })
  const pem = `${certificate.toString('pem')}\n`
  const key = await pemOf(keys.privateKey)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  await writeFile(join(folder, 'ca.key'), key, { mode: 0o600 })
  await chmod(join(folder, 'ca.key'), 0o600)
  await writeFile(join(folder, 'ca.pem'), pem)
  await writeFile(join(folder, 'ca.json'), `${JSON.stringify({ hosts })}\n`)
  return authority(folder, pem, key, now)
}

function authority(folder: string, pem: string, key: string, now: () => number): Authority {
  const certificate = new X509Certificate(pem)
  const leaves = new Map<string, { readonly leaf: Promise<Leaf>; readonly until: number }>()
  return {
    path: join(folder, 'ca.pem'),
    pem,
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
    expiresAt: Date.parse(certificate.validTo),
    leaf(host) {
      const kept = leaves.get(host)
      if (kept !== undefined && kept.until > now()) return kept.leaf
      const leaf = signed(host, certificate, pem, key, now())
      leaves.set(host, { leaf, until: now() + (LEAF_DAYS - 1) * DAY_MS })
      return leaf
    },
  }
}

async function signed(host: string, ca: X509Certificate, pem: string, caKey: string, now: number): Promise<Leaf> {
  const x509 = await library()
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const issuer = new x509.X509Certificate(ca.raw)
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(now, LEAF_DAYS),
    subject: `CN=${host}`,
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await imported(caKey),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  })
  return { key: await pemOf(keys.privateKey), cert: `${certificate.toString('pem')}\n${pem}` }
}

/** Clocks of clients differ by some minutes. */
function validity(now: number, days: number) {
  return {
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + days * DAY_MS),
    signingAlgorithm: ALGORITHM,
  }
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  return String(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' }))
}

function imported(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign'])
}

/** Loaded when the first certificate is made. The library reads decorators through the polyfill. */
async function library() {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  x509.cryptoProvider.set(webcrypto as never)
  return x509
}
