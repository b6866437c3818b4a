// Several gateways over one database, and a process that is killed: nothing is lost, nothing is sent twice
// without need.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../core/timing/clock.ts'
import { SITES, type Site } from '../../support/sites.ts'
import type { Arrived } from './support.ts'
import { envelopeIn, SOMETHING, type SocketReceiver, socketReceiver, until, type World, wholeClock, world } from './support.ts'

const open_: { close(): Promise<void> }[] = []
let site: Site | null = null
afterEach(async () => {
  for (const one of open_.splice(0).reverse()) await one.close()
  await site?.end()
  site = null
})

const real = async (env: Record<string, string>, receiver: SocketReceiver): Promise<World> => {
  const t = await world({ env, ports: { clock: systemClock, outboundPost: receiver.post } })
  open_.push(t)
  return t
}

const JITI = fileURLToPath(new URL('../../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
const PUBLISHER = fileURLToPath(new URL('./publisher.ts', import.meta.url))

/** The numbers it said before it was killed, so long after the first few. */
async function killedPublisher(env: Record<string, string>, port: number, first: number, aliveMs: number): Promise<number[]> {
  const child = spawn(process.execPath, [JITI, PUBLISHER, JSON.stringify(env), String(port), String(first)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let failure = ''
  let armed = false
  child.stderr.on('data', (chunk) => (failure += chunk))
  child.stdout.on('data', (chunk) => {
    said += chunk
    if (armed || said.split('\n').length < 4) return
    armed = true
    setTimeout(() => child.kill('SIGKILL'), aliveMs)
  })
  const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
  if (signal !== 'SIGKILL') throw new Error(`The publisher ended by itself: ${failure}`)
  // Its last line may be cut.
  return said.slice(0, said.lastIndexOf('\n')).split('\n').map(Number)
}

const idsIn = (arrived: readonly Arrived[]) => arrived.map((one) => envelopeIn(one).id)
const publish = (t: World, i: number) => t.outbox.publish({ ...SOMETHING, data: { ...SOMETHING.data, account_id: String(i) } })

for (const [name, missing, open] of SITES) {
  describe.skipIf(missing !== null)(`two gateways over one ${name}`, () => {
    it('deliver every event once between them', async () => {
      site = await open()
      const receiver = await socketReceiver()
      open_.push(receiver)
      receiver.answer = (_one, response) => void setTimeout(() => response.writeHead(200).end(), 5)
      const a = await real(site.env, receiver)
      const b = await real(site.env, receiver)
      await a.endpoint()
      await until(async () => (await b.endpoints()).length === 1)
      await until(() => b.outbox.statements(SOMETHING).length > 0)
      await Promise.all(Array.from({ length: 60 }, (_, i) => publish(i % 2 === 0 ? a : b, i)))
      await until(async () => (await a.deliveries('&status=delivered')).length === 60)
      expect(receiver.arrived).toHaveLength(60)
      expect(new Set(idsIn(receiver.arrived)).size).toBe(60)
    })

    it('tell a debounced event once between them', async () => {
      site = await open()
      const receiver = await socketReceiver()
      open_.push(receiver)
      const a = await real(site.env, receiver)
      const b = await real(site.env, receiver)
      await a.endpoint()
      const storm = { type: 'budget.crossed', orgId: null, data: { dedup_key: '1:100' } }
      await until(() => b.outbox.statements(storm).length > 0)
      await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? a : b).outbox.publish(storm)))
      await until(async () => (await a.deliveries('&status=delivered')).length === 1)
      expect(await a.deliveries()).toHaveLength(1)
      expect(receiver.arrived).toHaveLength(1)
    })

    it('kill -9, again and again: every event that was queued is delivered at least once', { timeout: 180_000 }, async () => {
      site = await open()
      const receiver = await socketReceiver()
      open_.push(receiver)
      const first = await real(site.env, receiver)
      await first.endpoint()
      await first.close()
      open_.splice(open_.indexOf(first), 1)
      const env = Object.fromEntries(Object.entries(site.env).map(([key, value]) => [`GATEWAY_${key}`, value]))
      const queued: number[] = []
      for (const aliveMs of [50, 300])
        queued.push(...(await killedPublisher(env, receiver.port, (queued.at(-1) ?? 0) + 1000, aliveMs)))
      expect(queued.length).toBeGreaterThanOrEqual(6)
      const clock = wholeClock()
      // What the killed one was sending is free when its leases have ended.
      clock.jump(Date.now() - clock.now() + 61_000)
      const last = await world({ env: site.env, clock, ports: { outboundPost: receiver.post } })
      open_.push(last)
      await until(async () => {
        await clock.advance(1000)
        return (await last.deliveries('&status=pending')).length === 0
      })
      const arrived = new Set(receiver.arrived.map((one) => Number(envelopeIn(one).data.account_id)))
      expect(queued.filter((number) => !arrived.has(number))).toEqual([])
    })

    it('one that closes in the middle of a delivery leaves it to the other', async () => {
      site = await open()
      const receiver = await socketReceiver()
      open_.push(receiver)
      let asked = 0
      // The first that is asked never gets an answer.
      receiver.answer = (_one, response) => void (asked++ > 0 && response.writeHead(200).end())
      const a = await real(site.env, receiver)
      await a.endpoint()
      await publish(a, 1)
      await until(() => asked === 1)
      const b = await real(site.env, receiver)
      await a.close()
      open_.splice(open_.indexOf(a), 1)
      await until(async () => (await b.deliveries())[0]?.status === 'delivered')
      expect((await b.deliveries())[0]).toMatchObject({ attempts: 1 })
      expect(new Set(idsIn(receiver.arrived)).size).toBe(1)
    })
  })
}
