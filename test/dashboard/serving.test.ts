// How the dashboard's files are served: which paths are pages, which stay the API's 404, and with what headers.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { rawHttp } from '../adapters/node/support.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

let dir: string
let t: TestGateway
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dashboard-'))
  await mkdir(join(dir, '.vite'))
  await mkdir(join(dir, 'assets'))
  await writeFile(join(dir, 'index.html'), '<meta content="%MOUNT%"><script src="./assets/main-1.js"></script>')
  await writeFile(join(dir, 'assets/main-1.js'), 'plain')
  await writeFile(join(dir, 'assets/main-1.js.br'), 'brotli')
  await writeFile(join(dir, 'assets/secret.js'), 'not in the manifest')
  await writeFile(join(dir, '.env'), 'SECRET=1')
  await writeFile(join(dir, '.vite/manifest.json'), JSON.stringify({ 'index.html': { file: 'assets/main-1.js' } }))
  t = await createTestGateway({ env: { DASHBOARD_DIR: dir } })
})
afterAll(async () => {
  await t.close()
  await rm(dir, { recursive: true })
})

describe('the document', () => {
  it.each([
    '/',
    '/requests',
    '/requests/req_1',
    '/routing/a%20b',
    '/no-such-page',
  ])('is served at %s to browsers', async (path) => {
    const answer = await t.fetch(path, { headers: BROWSER })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('<meta content=""><script src="/assets/main-1.js"></script>')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    const policy = answer.headers.get('content-security-policy')
    for (const directive of ["default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "trusted-types 'none'"])
      expect(policy).toContain(directive)
    expect(answer.headers.has('strict-transport-security')).toBe(false)
  })

  it('is not what clients of the API get at /', async () => {
    expect(await (await t.fetch('/', { headers: { accept: '*/*' } })).json()).toEqual({ status: 'ok' })
    const head = await t.fetch('/', { method: 'HEAD', headers: BROWSER })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it.each([
    '/v1/nope',
    '/v1beta/nope',
    '/api/nope',
    '/health/nope',
    '/metrics/nope',
    '/dl/nope',
    '/requests.html',
    '/.env',
  ])('does not stand in for %s', async (path) => {
    const answer = await t.fetch(path, { headers: BROWSER })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { type: expect.any(String), message: expect.any(String) } })
  })

  it('is served for no other method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect((await t.fetch('/requests', { method, headers: BROWSER })).status).toBe(404)
  })

  it('knows the path under which a host mounts the gateway', async () => {
    const answer = await t.gateway.fetch(new Request('http://host.example/llm/requests', { headers: BROWSER }), {
      prefix: '/llm',
    })
    expect(await answer.text()).toBe('<meta content="/llm"><script src="/llm/assets/main-1.js"></script>')
  })

  it('is left out where the host says so', async () => {
    const hidden = await t.gateway.fetch(new Request('http://host.example/requests', { headers: BROWSER }), {
      serve: { dashboard: false },
    })
    expect(hidden.status).toBe(404)
  })

  it('asks for HTTPS where the public address is HTTPS', async () => {
    const secure = await createTestGateway({ env: { DASHBOARD_DIR: dir, PUBLIC_URL: 'https://llm.example.com' } })
    const answer = await secure.fetch('/', { headers: BROWSER })
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
    await secure.close()
  })
})

describe('the API behind the document', () => {
  it('answers no page under a name that is not ours, although its browser is on this computer (DNS rebinding)', async () => {
    const { port } = await t.listen()
    const get = (path: string, host: string) =>
      rawHttp(port, `GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept: ${BROWSER.accept}\r\nconnection: close\r\n\r\n`)
    for (const path of ['/api/keys', '/api/auth/me', '/api/events', '/api/logs']) {
      expect(await get(path, `evil.example:${port}`), path).toMatch(/^HTTP\/1\.1 401 /)
      expect(await get(path, 'evil.example'), path).toMatch(/^HTTP\/1\.1 401 /)
    }
    expect(await get('/api/keys', `localhost:${port}`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('tells the time of the clock that its records have, so that pages count by it', async () => {
    const clocked = await createTestGateway({ ports: { clock: fakeClock(Date.UTC(2027, 1, 3, 4, 5, 6, 789)) } })
    for (const path of ['/api/keys', '/api/nope', '/healthz']) {
      const { headers } = await clocked.fetch(path)
      expect([path, headers.get('date')]).toEqual([path, 'Wed, 03 Feb 2027 04:05:06 GMT'])
    }
    await clocked.close()
  })
})

describe('a file', () => {
  it('is served compressed and for ever, since its name holds a hash', async () => {
    const plain = await t.fetch('/assets/main-1.js')
    expect([await plain.text(), plain.headers.get('content-encoding')]).toEqual(['plain', null])
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const brotli = await t.fetch('/assets/main-1.js', { headers: { 'accept-encoding': 'gzip, br' } })
    expect([await brotli.text(), brotli.headers.get('content-encoding')]).toEqual(['brotli', 'br'])
  })

  const escapes = ['..', '%2e%2e', '%252e%252e', '.%2e', '..%5c', '..%2f', '%c0%ae%c0%ae', '..%00', '....//', '/etc/passwd', 'C:']
  const targets = ['.env', '.vite/manifest.json', 'index.html', 'package.json', 'etc/passwd', 'assets/secret.js']
  it('is served only when the manifest names it, however a path is spelled', async () => {
    const { url } = await t.listen()
    for (const target of targets) {
      for (const spelling of ['', ...escapes]) {
        for (const path of [
          `/assets/${spelling}/${target}`,
          `/assets/${spelling}%2f${target}`,
          `/assets/x/${spelling}/${spelling}/${target}`,
        ]) {
          const answer = await fetch(url + path, { headers: { accept: 'text/html' } })
          expect([path, answer.status === 200 && !(await answer.text()).startsWith('<meta')]).toEqual([path, false])
        }
      }
    }
  })

  it('may not lead out of the folder by a link', async () => {
    const linked = await mkdtemp(join(tmpdir(), 'dashboard-'))
    await mkdir(join(linked, '.vite'))
    await mkdir(join(linked, 'assets'))
    await writeFile(join(linked, 'index.html'), '')
    await symlink('/etc/hostname', join(linked, 'assets/main.js'))
    await writeFile(join(linked, '.vite/manifest.json'), JSON.stringify({ a: { file: 'assets/main.js' } }))
    const gateway = await createTestGateway({ env: { DASHBOARD_DIR: linked } })
    expect((await gateway.fetch('/assets/main.js')).status).toBe(500)
    await gateway.close()
    await rm(linked, { recursive: true })
  })
})

describe('a dashboard whose files cannot be read', () => {
  it('is served as soon as they can', async () => {
    const late = await mkdtemp(join(tmpdir(), 'dashboard-'))
    const t = await createTestGateway({ env: { DASHBOARD_DIR: late } })
    const status = async () => (await t.fetch('/', { headers: BROWSER })).status
    expect(await status()).toBe(503)
    await mkdir(join(late, '.vite'))
    await writeFile(join(late, '.vite/manifest.json'), '{ "half": ')
    expect(await status()).toBe(500)
    await writeFile(join(late, '.vite/manifest.json'), '{}')
    await writeFile(join(late, 'index.html'), 'built')
    expect(await status()).toBe(200)
    await t.close()
    await rm(late, { recursive: true })
  })
})

describe('a gateway without a built dashboard', () => {
  it('names the command that builds it, and serves its API', async () => {
    const missing = await createTestGateway({ env: { DASHBOARD_DIR: join(dir, 'none') } })
    const answer = await missing.fetch('/', { headers: BROWSER })
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('npm run build')])
    expect((await missing.fetch('/assets/main-1.js')).status).toBe(404)
    expect((await missing.fetch('/api/keys')).status).toBe(200)
    await missing.close()
  })
})
