// Every entry to a gateway: web fetch, our own server, and the three mounts of the examples.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { H3, serve as serveH3 } from 'h3'
import { toNodeHandler } from '../../../adapters/node/server/node-handler.ts'
import { serve } from '../../../adapters/node/server/serve.ts'
import type { HostedGateway } from '../../../core/gateway.ts'

export interface Door {
  call(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

export const DOORS: Record<string, (gateway: HostedGateway) => Promise<Door>> = {
  'fetch(Request)': async (gateway) => ({
    call: (path, init) =>
      gateway.fetch(new Request(`http://127.0.0.1${path}`, { ...init, duplex: 'half' } as RequestInit), { local: true }),
    close: async () => {},
  }),

  'serve()': async (gateway) => {
    const { url, close } = await serve(gateway, { host: '127.0.0.1', port: 0, drainMs: 200 })
    return overHttp(url, close)
  },

  'a node:http server': (gateway) => {
    const listener = toNodeHandler(gateway, { prefix: '/llm', peer: LOCAL })
    return mounted(createServer((req, res) => (req.url?.startsWith('/llm/') ? listener(req, res) : res.end('mine'))))
  },

  'an Express app': (gateway) => {
    const app = express()
    app.use('/llm', toNodeHandler(gateway, { peer: LOCAL }))
    app.use(express.json())
    return mounted(createServer(app))
  },

  'an h3 app': async (gateway) => {
    const app = new H3()
    app.mount('/llm', gateway)
    const server = serveH3(app, { hostname: '127.0.0.1', port: 0, silent: true, gracefulShutdown: false })
    await server.ready()
    return overHttp(`${(server.url as string).replace(/\/$/, '')}/llm`, () => server.close(true))
  },
}

const LOCAL = () => ({ address: '127.0.0.1', local: true, secure: false })

async function mounted(server: Server): Promise<Door> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}/llm`, async () => {
    server.closeAllConnections()
    server.close()
  })
}

function overHttp(base: string, close: () => Promise<void>): Door {
  return { call: (path, init) => fetch(base + path, { ...init, duplex: 'half' } as RequestInit), close }
}
