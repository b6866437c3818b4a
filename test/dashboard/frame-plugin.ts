// A plugin with a page of its own, for tests: two routes that the page may call, one that it may not, and another plugin's route.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'

export interface FramePlugin {
  readonly plugin: ReturnType<ReturnType<typeof definePlugin>>
  /** Calls that the gateway received: `declared`, `secret`, … */
  readonly asked: string[]
}

/** Runs before the script of a test: `call(text, rest)` asks the host and resolves to its reply. */
const CLIENT = `
let port
const waiting = new Map()
const ready = new Promise((resolve) => {
  addEventListener('message', ({ data, ports }) => {
    if (data?.hookgate !== 1 || port) return
    port = ports[0]
    document.documentElement.dataset.theme = data.theme
    port.onmessage = ({ data }) => {
      if (data.theme) document.documentElement.dataset.theme = data.theme
      waiting.get(data.id)?.(data)
    }
    resolve()
  })
})
let last = 0
const call = (text, rest = {}) => new Promise((resolve) => {
  const id = ++last
  waiting.set(id, resolve)
  port.postMessage({ id, call: text, ...rest })
})
const show = (text) => { document.getElementById('out').textContent += text + '\\n' }
`

/** @param script of the page, after the client above */
export async function framePlugin(script: string): Promise<FramePlugin> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-page-'))
  await mkdir(join(folder, 'lib'))
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><html lang="en"><title>Board</title><link rel="stylesheet" href="page.css"><pre id="out"></pre><script src="lib/page.js"></script></html>',
  )
  await writeFile(join(folder, 'page.css'), '#out { color: rgb(1, 2, 3) }')
  await writeFile(join(folder, '.env'), 'SECRET=1')
  await writeFile(join(folder, 'lib/page.js'), `${CLIENT}\n${script}`)
  const asked: string[] = []
  const plugin = definePlugin({
    name: 'shop',
    setup(gateway) {
      const route = (method: 'GET' | 'POST', path: string, mark: string) =>
        gateway.api({
          method,
          path,
          summary: 'A route of a test.',
          response: z.object({ mark: z.string(), name: z.string().nullable() }),
          ...(method === 'POST' && { audit: false, body: z.object({ n: z.int() }) }),
          handler: (call: { params: Readonly<Record<string, string>> }) => {
            asked.push(mark)
            return { mark, name: call.params.name ?? null }
          },
        } as never)
      route('GET', '/api/shop/items/:name', 'item')
      route('POST', '/api/shop/items', 'made')
      route('GET', '/api/shop/secret', 'secret')
      gateway.page({ id: 'board', title: 'Board', folder, routes: ['GET /api/shop/items/:name', 'POST /api/shop/items'] })
    },
  })
  return { plugin: plugin(), asked }
}
