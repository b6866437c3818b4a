// Passes a request on to the real host, with its headers in their order and spelling, and the answer back. Bodies are not decoded.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'
import { connect } from 'node:tls'
import { envelope, GatewayError } from '../../core/errors/gateway-error.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { InterceptedHost } from './options.ts'
import { realHost } from './real-host.ts'

const CONNECT_MS = 30_000

export interface PassThrough {
  request(entry: InterceptedHost, req: IncomingMessage, res: ServerResponse): Promise<void>
  /** A WebSocket, or another protocol that the client changes to. */
  upgrade(entry: InterceptedHost, req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  close(): void
}

export function passThrough(): PassThrough {
  const agent = new Agent({ keepAlive: true })
  return {
    async request(entry, req, res) {
      try {
        const { address, port, ca } = await realHost(entry)
        await passed(entry, req, res, { agent, host: address, port, ...(ca === undefined ? {} : { ca }) })
      } catch (error) {
        if (res.headersSent || res.destroyed) res.destroy()
        else refuse(res, unreachable(entry, error as Error))
      }
    },
    async upgrade(entry, req, socket, head) {
      socket.on('error', () => socket.destroy())
      try {
        const { address, port, ca } = await realHost(entry)
        const real = connect({ host: address, port, servername: entry.host, ...(ca === undefined ? {} : { ca }) })
        real.on('error', () => socket.destroy())
        real.once('secureConnect', () => {
          real.write(headOf(req))
          real.write(head)
          pipeline(socket, real, () => {})
          pipeline(real, socket, () => {})
        })
      } catch {
        socket.destroy()
      }
    },
    close: () => agent.destroy(),
  }
}

interface Where {
  readonly agent: Agent
  readonly host: string
  readonly port: number
  readonly ca?: string[]
}

function passed(entry: InterceptedHost, req: IncomingMessage, res: ServerResponse, where: Where): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({
      ...where,
      servername: entry.host,
      method: req.method,
      path: req.url,
      // A flat list keeps order, spelling and repeated headers.
      headers: req.rawHeaders as never,
      setHost: false,
    })
    const late = systemClock.timer(CONNECT_MS, () => call.destroy(new Error('it did not accept the connection in time')))
    call.on('socket', (socket) => {
      if (call.reusedSocket) late.cancel()
      else socket.once('secureConnect', () => late.cancel())
    })
    call.on('close', () => late.cancel())
    call.on('continue', () => res.writeContinue())
    call.on('response', (answer) => {
      res.sendDate = false
      res.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', answer.rawHeaders as never)
      // Events of a stream arrive one by one.
      res.flushHeaders()
      pipeline(answer, res, (error) => (error ? reject(error) : resolve()))
    })
    call.on('error', reject)
    res.on('close', () => {
      if (!res.writableEnded) call.destroy()
    })
    if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) call.end()
    else pipeline(req, call, (error) => error && reject(error))
  })
}

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/1.1`]
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function unreachable({ host }: InterceptedHost, error: Error): GatewayError {
  return new GatewayError(`The request could not be passed on to ${host}: ${error.message.slice(0, 200)}.`, {
    status: 502,
    type: 'api_error',
    code: 'pass_through_failed',
  })
}

export function refuse(res: ServerResponse, error: GatewayError): void {
  res.writeHead(error.status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
  res.end(JSON.stringify(envelope(error)))
}
