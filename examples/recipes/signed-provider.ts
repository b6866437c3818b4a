// A provider whose upstream requires a signature: HMAC-SHA-256 over the time and the body, with a key id.
import { createHmac } from 'node:crypto'
import { defineProvider } from 'hookgate'

/** Use it as `providers: [signedProvider('https://llm.internal/v1')]`; the connection's key is `<key id>:<secret>`. */
export const signedProvider = (baseUrl: string, now: () => number = Date.now) =>
  defineProvider({
    id: 'internal',
    aliases: [],
    baseUrl,
    dialects: { chat: '' },
    quirks: {},
    needsKey: true,
    caps: () => ({ family: 'internal', context: 128_000, maxOutput: 8192 }),
    dialectFor: () => 'chat',
    authorize(wire, _dialect, credential) {
      const [id = '', secret = ''] = (credential ?? '').split(':')
      const time = String(Math.floor(now() / 1000))
      const mac = createHmac('sha256', secret).update(`${time}.`)
      for (const chunk of wire.body ?? []) mac.update(chunk)
      wire.headers.push('x-key-id', id, 'x-time', time, 'x-signature', mac.digest('hex'))
    },
  })
