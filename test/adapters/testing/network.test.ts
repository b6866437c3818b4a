// The kit's network faults are real, verified with plain sockets and Node's own TLS.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as secureConnect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { certificate, closedPort, rawServer, secureUpstream, silentPort, tarpit } from '../../../adapters/testing/index.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})
const owned = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.push(one)
  return one
}

describe('certificate', () => {
  it('is a self-signed certificate that Node reads', () => {
    const { cert, key } = certificate({ host: 'vendor.example', notAfter: new Date('2030-01-02T03:04:05Z') })
    const read = new X509Certificate(cert)
    expect([read.subject, read.subjectAltName, read.validTo]).toEqual([
      'CN=vendor.example',
      'DNS:vendor.example',
      'Jan  2 03:04:05 2030 GMT',
    ])
    expect(read.verify(read.publicKey)).toBe(true)
    expect(read.ca).toBe(true)
    expect(key).toContain('PRIVATE KEY')
    expect(new X509Certificate(certificate({ host: '10.0.0.1' }).cert).checkIP('10.0.0.1')).toBe('10.0.0.1')
  })

  it('serves TLS to whoever trusts it', async () => {
    const tls = certificate({ host: 'localhost' })
    const upstream = owned(await secureUpstream(tls))
    const socket = secureConnect({ port: upstream.port, host: '127.0.0.1', servername: 'localhost', ca: tls.cert })
    await once(socket, 'secureConnect')
    expect(socket.authorized).toBe(true)
    socket.destroy()
  })
})

describe('addresses at which nothing good happens', () => {
  it('closedPort refuses', async () => {
    const [error] = (await once(connect(await closedPort(), '127.0.0.1'), 'error').catch((thrown: unknown) => [thrown])) as [
      { code: string },
    ]
    expect(error.code).toBe('ECONNREFUSED')
  })

  it('tarpit leaves SYNs unanswered', async () => {
    const pit = owned(await tarpit())
    const socket = connect(pit.port, '127.0.0.1')
    socket.on('error', () => {})
    let connected = false
    socket.on('connect', () => {
      connected = true
    })
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(connected).toBe(false)
    socket.destroy()
  })

  it('silentPort accepts and says nothing; rawServer does as told', async () => {
    const silent = owned(await silentPort())
    const quiet = connect(silent.port, '127.0.0.1')
    await once(quiet, 'connect')
    quiet.destroy()
    const server = owned(await rawServer((socket) => socket.end('hello')))
    const [data] = (await once(connect(server.port, '127.0.0.1'), 'data')) as [Buffer]
    expect(data.toString()).toBe('hello')
  })
})
