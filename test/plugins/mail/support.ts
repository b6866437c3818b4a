// A gateway whose mail goes to a scripted e-mail API over real HTTP.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listening } from '../../../adapters/testing/network-faults.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import { type JumpingClock, jumpingClock } from '../sign-in/support.ts'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: { from: string; to: string[]; subject: string; html: string; text: string }
}

export interface MailApi {
  readonly url: string
  readonly received: Received[]
  answer: (response: ServerResponse, received: Received) => void
  close(): Promise<void>
}

export async function mailApi(): Promise<MailApi> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = { headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as Received['body'] }
      api.received.push(one)
      api.answer(response, one)
    })
  })
  const port = await listening(server)
  const api: MailApi = {
    url: `http://127.0.0.1:${port}/emails`,
    received: [],
    answer: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x"}'),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return api
}

export const MAIL_ENV = {
  EMAIL_API_KEY: 're_secretOfTheMailApi',
  EMAIL_FROM: 'hookgate <gateway@example.com>',
  PUBLIC_URL: 'https://llm.example.com/gw/',
}

export const LETTER = {
  to: 'ada@example.org',
  orgId: null,
  kind: 'verify',
  subject: 'Confirm your address',
  heading: 'Welcome',
  paragraphs: ['Press the button to confirm.'],
  action: { label: 'Confirm', path: '/verify#token=theSecretOfTheLink' },
} as const

export interface MailWorld extends TestGateway {
  readonly clock: JumpingClock
  readonly mail: Services['mail']
  state(): Promise<{
    driver: string
    waiting: number
    sent_24h: number
    dead_24h: number
    failures: {
      kind: string
      state: string
      attempts: number
      status: number | null
      error: string | null
      next_attempt_at: string | null
    }[]
  }>
  /** Moves the wall clock to the next attempt of a letter that failed, and waits until it is over. */
  nextAttempt(): Promise<void>
  /** Advances the clock in steps until the condition holds. */
  until(holds: () => boolean | Promise<boolean>, step?: number): Promise<void>
}

export async function mailWorld(
  api: MailApi | null,
  { env, ports, ...options }: TestGatewayOptions = {},
  clock: JumpingClock = jumpingClock(),
): Promise<MailWorld> {
  let mail: Services['mail'] | undefined
  const observer = definePlugin({
    name: 'observer',
    requires: ['mail'],
    setup(gateway) {
      mail = gateway.use('mail')
    },
  })
  const t = await createTestGateway({
    ...options,
    plugins: [observer()],
    env: { ...(api && MAIL_ENV), ...env },
    ports: { clock, ...ports },
    config: { ...options.config, ...(api && { settings: { email: { api_url: api.url } } }) },
  })
  const world: MailWorld = {
    ...t,
    clock,
    mail: mail as Services['mail'],
    state: async () => (await (await t.fetch('/api/mail')).json()) as Awaited<ReturnType<MailWorld['state']>>,
    async nextAttempt() {
      const [letter] = (await world.state()).failures
      clock.jump(Math.max(0, Date.parse(letter?.next_attempt_at ?? '') - clock.now()))
      await clock.advance(60_000)
      await world.until(async () => {
        const [now] = (await world.state()).failures
        return now === undefined || now.attempts > (letter?.attempts ?? 0)
      })
    },
    async until(holds, step = 0) {
      const end = performance.now() + 8000
      while (!(await holds())) {
        if (performance.now() > end) throw new Error('It did not come to pass within 8 s.')
        if (step > 0) await clock.advance(step)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
  }
  return world
}
