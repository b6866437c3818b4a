// An authority of shared state and the links of its workers, over real sockets in this process.

import type { AddressInfo } from 'node:net'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { type Authority, type AuthorityOptions, authority } from '../../adapters/stores/ipc/authority.ts'
import { type Link, openLink } from '../../adapters/stores/ipc/link.ts'

export interface Links {
  readonly authority: Authority
  readonly links: readonly Link[]
  /** Opens the link of one more worker. */
  open(place: number): Promise<Link>
  /** Ends the socket of a worker, as its death does. */
  kill(index: number): Promise<void>
  /** Resolves when everything sent so far has arrived. */
  flush(): Promise<void>
  close(): Promise<void>
}

export async function ipcLinks(count: number, options: AuthorityOptions): Promise<Links> {
  const state = authority(options)
  const server = await new Promise<Server>((resolve) => {
    const made = createServer().listen(0, '127.0.0.1', () => resolve(made))
  })
  const links: Link[] = []
  const sockets: Socket[] = []
  const open = async (place: number): Promise<Link> => {
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
    const socket = dial((server.address() as AddressInfo).port, '127.0.0.1')
    state.connect(place, await accepted)
    const link = openLink({ socket, place, count, lost() {} })
    links.push(link)
    sockets.push(socket)
    await link.call('ping')
    return link
  }
  for (let place = 1; place <= count; place++) await open(place)
  return {
    authority: state,
    links,
    open,
    async kill(index) {
      const before = state.connected
      sockets[index]?.destroy()
      while (state.connected === before) await new Promise((resolve) => setImmediate(resolve))
    },
    async flush() {
      // Twice: what the first message caused at another worker has arrived, too.
      for (let i = 0; i < 2; i++) await Promise.all(links.map((link) => link.call('ping').catch(() => {})))
    },
    async close() {
      state.close()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
