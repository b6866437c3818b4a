// A request of node:http that only a WebSocket upgrades. Node takes every request with an `Upgrade` header from the server as soon as
// there is an `upgrade` listener, and some clients offer HTTP/2 with each ordinary request.
import { IncomingMessage, type Server } from 'node:http'

const ASKED = Symbol('upgrade')

export class WebSocketRequest extends IncomingMessage {
  declare [ASKED]: boolean | null

  /** Node sets it to true for a request with an `Upgrade` header, and reads it to decide. */
  get upgrade(): boolean | null {
    return this[ASKED] === true ? this.headers.upgrade?.toLowerCase() === 'websocket' : this[ASKED]
  }

  set upgrade(value: boolean | null) {
    this[ASKED] = value
  }
}

/**
 * Does the same for a server that another library made without options: node:http keeps the class of its requests under a symbol.
 * Where it does not, the server stays as it is.
 */
export function upgradeOnlyWebSockets(server: Server): void {
  const key = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === 'IncomingMessage')
  if (key !== undefined) Object.assign(server, { [key]: WebSocketRequest })
}
