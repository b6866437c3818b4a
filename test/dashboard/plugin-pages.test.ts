// How plugins' own pages are registered and served.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { PluginPage } from '../../core/types/plugin/page.ts'

let folder: string
let t: TestGateway | null = null
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugin-page-'))
  await mkdir(join(folder, 'lib'))
  await writeFile(join(folder, 'index.html'), '<h1>Board</h1>')
  await writeFile(join(folder, 'lib/my app.js'), '1')
  await writeFile(join(folder, '.env'), 'SECRET=1')
  await writeFile(join(folder, 'notes.txt'), 'not for browsers')
})
afterEach(async () => {
  await t?.close()
  t = null
  await rm(folder, { recursive: true, force: true })
})

async function boot(page: object, env: Record<string, string> = {}, second?: object): Promise<TestGateway> {
  const shop = definePlugin({
    name: 'shop',
    setup(gateway) {
      gateway.api({ method: 'GET', path: '/api/shop', summary: 'Sums.', response: z.object({}), handler: () => ({}) })
      for (const one of [page, second]) if (one !== undefined) gateway.page(one as PluginPage)
    },
  })
  t = await createTestGateway({ env, plugins: [shop()] })
  return t
}
const board = (changes: object = {}) => ({ id: 'board', title: 'Board', folder, routes: ['GET /api/shop'], ...changes })

describe("a plugin's page", () => {
  it.each([
    ['a path', () => folder],
    ['a URL', () => pathToFileURL(`${folder}/`)],
  ])('is served from %s without an origin, and only with the files of its folder', async (_name, at) => {
    await symlink('/etc/hostname', join(folder, 'linked.json'))
    const gateway = await boot(board({ folder: at() }))
    const page = await gateway.fetch('/plugin-pages/shop/board/index.html')
    expect([page.status, await page.text()]).toEqual([200, '<h1>Board</h1>'])
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts",
    )
    expect(page.headers.get('x-frame-options')).toBeNull()
    expect(page.headers.get('cross-origin-resource-policy')).toBeNull()
    const script = await gateway.fetch('/plugin-pages/shop/board/lib/my%20app.js')
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    for (const path of ['', '.env', '%2eenv', 'notes.txt', 'linked.json', '..%2findex.html', 'lib', 'lib/../../x', 'INDEX.HTML'])
      expect([path, (await gateway.fetch(`/plugin-pages/shop/board/${path}`)).status]).toEqual([path, 404])
    for (const path of ['/plugin-pages', '/plugin-pages/shop', '/plugin-pages/other/board/index.html'])
      expect([path, (await gateway.fetch(path)).status]).toEqual([path, 404])
    const { data } = (await (await gateway.fetch('/api/plugins')).json()) as { data: { name: string; pages: object[] }[] }
    expect(data.find(({ name }) => name === 'shop')?.pages).toEqual([{ id: 'board', title: 'Board', routes: ['GET /api/shop'] }])
  })

  it('is not served in the cloud profile, unless it is switched on', async () => {
    const gateway = await boot(board(), { DASHBOARD_PLUGIN_PAGES: 'false' })
    expect((await gateway.fetch('/plugin-pages/shop/board/index.html')).status).toBe(404)
  })

  it.each<[string, object, RegExp]>([
    ['an id with spaces', { id: 'My board' }, /`id` must be lower-case words/],
    ['no title', { title: '' }, /`title`/],
    ['an address instead of a folder', { folder: new URL('https://example.com/') }, /`folder` must be a file: URL/],
    ['a member that does not exist', { html: '<b>' }, /html/],
    ["another plugin's route", { routes: ['GET /api/keys'] }, /no route `GET \/api\/keys`/],
    ['a route without its method', { routes: ['/api/shop'] }, /no route `\/api\/shop`/],
    ['a folder that does not exist', { folder: '/no/such/folder' }, /cannot be served: .*ENOENT/],
  ])('with %s refuses to start and names the plugin', async (_name, changes, why) => {
    await expect(boot(board(changes))).rejects.toThrow(/plugin `shop`/)
    await expect(boot(board(changes))).rejects.toThrow(why)
  })

  it('with the id of another, or without an index.html, refuses to start', async () => {
    await expect(boot(board(), {}, board())).rejects.toThrow(/`board` of the plugin `shop` is wrong: the plugin has another page/)
    await rm(join(folder, 'index.html'))
    await expect(boot(board())).rejects.toThrow(/plugin `shop` cannot be served: its folder has no index\.html/)
  })
})
