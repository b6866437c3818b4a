// The interception proxy writes its CA, the hosts file and the trust store, and undoes each change.
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect, createServer as tlsServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { newAuthority } from '../../../plugins/interception/authority.ts'
import { mappedHosts, writeHosts } from '../../../plugins/interception/hosts-file.ts'
import { folder } from '../../adapters/cli/hookgate.ts'
import { goneProcess } from '../../support/ended-process.ts'
import { call, type FakeHost, fakeHost, HOST, HOSTS, intercepting, type Made } from './support.ts'

let vendor: FakeHost
const gateways: TestGateway[] = []
let t: TestGateway
let dataDir: string
let hostsFile: string
let ca: string

const gateway: (...given: Parameters<typeof intercepting> extends [FakeHost, ...infer R] ? R : never) => Promise<Made> = async (
  ...given
) => {
  const made = await intercepting(vendor, ...given)
  gateways.push(made.t)
  return made
}

beforeAll(async () => {
  vendor = await fakeHost(join(folder({}), 'vendor'))
  const made = await gateway({ enabled: true, manageHosts: true, installCa: true })
  ;({ t, dataDir, hostsFile } = made)
  await t.listen()
  await vi.waitFor(() => expect(existsSync(join(made.trust, 'hookgate-interception.crt'))).toBe(true), 15_000)
  ca = (await call(t, 'GET', '/api/mitm/ca.pem')).body.text
  await call(t, 'PUT', '/api/mitm/aliases', { ide: { 'vendor-1': 'chat/model-x' } })
})
afterAll(async () => {
  for (const made of gateways) await made.close()
  vendor.close()
})

it('has a CA for this installation, limited to the intercepted hosts, with a key that only its owner reads', async () => {
  const { ca: shown } = (await call(t, 'GET', '/api/mitm')).body as unknown as { ca: Record<string, string> }
  const certificate = new X509Certificate(ca)
  expect(shown.fingerprint_sha256).toBe(certificate.fingerprint256.replaceAll(':', '').toLowerCase())
  expect(certificate.ca).toBe(true)
  expect(statSync(join(dataDir, 'mitm/ca.key')).mode & 0o777).toBe(0o600)
  expect(statSync(join(dataDir, 'mitm')).mode & 0o777).toBe(0o700)
  expect(Date.parse(certificate.validTo) - Date.now()).toBeGreaterThan(728 * 86_400_000)
  // OpenSSL reads the constraint, and refuses a certificate of another host that this CA signed.
  const own = await newAuthority(join(folder({}), 'ca'), [HOST], () => Date.now())
  const { cert, key } = await own.leaf('www.bank.test')
  const server = tlsServer({ cert, key }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const error = await new Promise<NodeJS.ErrnoException>((resolve) =>
    connect({
      host: '127.0.0.1',
      port: (server.address() as { port: number }).port,
      servername: 'www.bank.test',
      ca: own.pem,
    }).on('error', resolve),
  )
  server.close()
  expect(error.message).toMatch(/permitted subtree violation/)
})

it('writes its lines into the hosts file and its CA into the trust store, and undoes both when it stops', async () => {
  const { body } = await call(t, 'GET', '/api/mitm')
  expect(body).toMatchObject({
    enabled: true,
    running: true,
    hosts: [{ host: HOST, tool: 'ide', mapped: true }],
    ca: { exists: true, installed: true },
  })
  expect(readFileSync(hostsFile, 'utf8')).toMatch(
    new RegExp(`^${HOSTS}# hookgate begin.*\\n127\\.0\\.0\\.1 ${HOST}\\n# hookgate end\\n$`),
  )
  const stopped = await call(t, 'POST', '/api/mitm/stop')
  expect(stopped.body).toMatchObject({ running: false, port: null, ca: { exists: true, installed: false } })
  expect(readFileSync(hostsFile, 'utf8')).toBe(HOSTS)
  const again = await call(t, 'POST', '/api/mitm/start')
  expect(again.body).toMatchObject({ running: true, hosts: [{ mapped: true }], aliases: { ide: { 'vendor-1': 'chat/model-x' } } })
  // The same CA: a client that trusts it goes on.
  expect((await call(t, 'GET', '/api/mitm/ca.pem')).body.text).toBe(ca)
})

it('removes what a crashed gateway left, when the next one starts', async () => {
  const { pid, end } = await goneProcess()
  const data = folder({})
  const file = join(folder({ hosts: HOSTS }), 'hosts')
  writeHosts(file, [HOST, 'old.vendor.test'])
  expect(readFileSync(file, 'utf8')).toContain('old.vendor.test')
  mkdirSync(join(data, 'mitm'))
  const written = { pid, hostsFile: true, ca: false }
  writeFileSync(join(data, 'mitm/state.json'), JSON.stringify({ aliases: {}, hosts: [], written }))
  const next = await gateway({}, {}, { dataDir: data, hostsFile: file })
  // A command of the command line has no server, and leaves everything as it is.
  expect(readFileSync(file, 'utf8')).toContain('old.vendor.test')
  await next.t.listen()
  await expect.poll(() => readFileSync(file, 'utf8')).toBe(HOSTS)
  await expect.poll(() => readFileSync(join(data, 'mitm/state.json'), 'utf8')).toContain('"written":null')
  end()
})

it('maps single hosts, and names the command where it may not write', async () => {
  const readOnly = join(folder({}), 'no-such-folder/hosts')
  const made = await gateway({}, {}, { hostsFile: readOnly })
  await made.t.listen()
  expect((await call(made.t, 'PUT', '/api/mitm/hosts', { host: 'other.test', mapped: true })).status).toBe(404)
  expect((await call(made.t, 'PUT', '/api/mitm/hosts', { host: HOST, mapped: true })).body.command).toBeNull()
  await call(made.t, 'POST', '/api/mitm/start')
  const { command } = (await call(made.t, 'PUT', '/api/mitm/hosts', { host: HOST, mapped: true })).body
  expect(command).toMatch(
    /sudo sed -i.* && printf '%s\\n' '# hookgate begin.*' '127\.0\.0\.1 api\.vendor\.test' '# hookgate end' \| sudo tee -a \S+no-such-folder\/hosts$/,
  )
})

it('the command that is printed does what the gateway would have done', async () => {
  const file = join(folder({ hosts: HOSTS, expected: HOSTS }), 'hosts')
  const sudo = folder({ sudo: '#!/bin/sh\nexec "$@"\n' })
  await promisify(execFile)('chmod', ['+x', join(sudo, 'sudo')])
  const missing = `${file}/under-a-file`
  const command = writeHosts(missing, [HOST])?.replaceAll(missing, file) as string
  await promisify(execFile)('sh', ['-c', command], { env: { PATH: `${sudo}:${process.env.PATH}` } })
  writeHosts(join(file, '../expected'), [HOST])
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(file, '../expected'), 'utf8'))
  expect([...mappedHosts(file)]).toEqual(['localhost', HOST])
  const undo = writeHosts(missing, [])
  expect(undo).toBeNull()
})

it('says why it cannot start: no host, a port in use, no data directory', async () => {
  const empty = await gateway({ hosts: [] })
  expect((await call(empty.t, 'POST', '/api/mitm/start')).body).toMatchObject({ error: { code: 'no_hosts' } })
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port: used } = taken.address() as { port: number }
  const busy = await gateway({ port: used })
  expect((await call(busy.t, 'POST', '/api/mitm/start')).body).toMatchObject({
    error: {
      code: 'not_started',
      message: `The interception proxy cannot listen on 127.0.0.1:${used}: EADDRINUSE. Set GATEWAY_MITM_PORT.`,
    },
  })
  taken.close()
  const kept = await createTestGateway()
  gateways.push(kept)
  expect(await call(kept, 'GET', '/api/mitm')).toMatchObject({ status: 200, body: { running: false, ca: { exists: false } } })
})

it('does not exist in the cloud profile: 404 for every method, for system administrators too', async () => {
  const cloud = await gateway(
    {},
    { PROFILE: 'cloud', MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64') },
  )
  for (const route of ['', '/start', '/stop', '/ca/install', '/ca/uninstall', '/ca.pem', '/hosts', '/aliases'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(cloud.t, method, `/api/mitm${route}`, method === 'GET' ? undefined : {})
      expect([method, route, answer.status, answer.body]).toEqual([
        method,
        route,
        404,
        { error: expect.objectContaining({ code: 'unknown_url' }) },
      ])
    }
})
