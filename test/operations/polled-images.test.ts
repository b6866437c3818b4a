// Images of Black Forest Labs: a job, and polls until it is ready.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/index.ts'
import { operationReply } from '../../adapters/testing/operations/vendor.ts'
import type { RecordedRequest, Step } from '../../adapters/testing/script.ts'
import { undiciTransport } from '../../adapters/transport/undici.ts'
import { headerBag } from '../../core/http/headers.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Transport, WireRequest } from '../../core/types/ports/ports.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const path = '/v1/images/generations'
const sent = (at = 0) => v.vendor.requests[at] as RecordedRequest
const ask = (more: object) => v.t.post(path, { model: 'black-forest-labs/flux-pro', prompt: 'a cat', ...more })

/** Answers the job, and every poll with `status`. */
const polled = (status: string): Step => ({
  kind: 'choose',
  choose: (request) =>
    request.path.includes('get_result')
      ? { kind: 'raw', status: 200, body: JSON.stringify({ status }) }
      : operationReply(request),
})

it.each([
  ['flux-pro-1.1', { width: 1024, height: 768 }],
  ['flux-pro-1.1-ultra', { aspect_ratio: '4:3' }],
  ['flux-kontext-pro', { aspect_ratio: '4:3' }],
])('the exact request of %s', async (model, size) => {
  v = await vendors(['black-forest-labs'])
  await ask({ model: `black-forest-labs/${model}`, size: '1024x768', output_format: 'png', seed: 7 })
  expect(sent().json).toEqual({ prompt: 'a cat', output_format: 'png', seed: 7, ...size })
  expect(sent(1).method).toBe('GET')
})

it('an edit sends the images as base64', async () => {
  v = await vendors(['black-forest-labs'])
  const form = new FormData()
  form.set('model', 'black-forest-labs/flux-kontext-pro')
  form.set('prompt', 'a hat')
  for (const text of ['one', 'two']) form.append('image[]', new Blob([text], { type: 'image/png' }), `${text}.png`)
  expect((await v.t.fetch('/v1/images/edits', { method: 'POST', body: form })).status).toBe(200)
  const [first, second] = ['one', 'two'].map((text) => Buffer.from(text).toString('base64'))
  expect(sent().json).toEqual({ prompt: 'a hat', input_image: first, input_image_2: second })
})

it('a caller who leaves ends the polling', async () => {
  const clock = fakeClock()
  v = await vendors(['black-forest-labs'], { upstream: [polled('Pending')], ports: { clock } })
  const leave = new AbortController()
  const answer = v.t.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'black-forest-labs/flux-pro', prompt: 'a cat' }),
    signal: leave.signal,
  })
  const left = answer.then(
    (response) => response.status,
    () => 499,
  )
  // The job and three polls: the wait between them is on the clock.
  while (v.vendor.requests.length < 4) await clock.advance(500)
  leave.abort()
  expect(await left).toBe(499)
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome).toMatchObject({ aborted: true, steps: [] })
  const polls = v.vendor.requests.length
  await clock.advance('5m')
  expect(v.vendor.requests).toHaveLength(polls)
})

it('an image that is never ready is 504', async () => {
  const clock = fakeClock()
  v = await vendors(['black-forest-labs'], { upstream: [polled('Pending')], ports: { clock } })
  const answer = v.t.post(path, { model: 'black-forest-labs/flux-pro', prompt: 'a cat' })
  let status = 0
  void answer.then((response) => {
    status = response.status
  })
  while (status === 0) await clock.advance('30s')
  expect(status).toBe(504)
  expect(clock.monotonic()).toBeLessThan(600_000)
})

it('a poll at another origin is sent without the key, and without the headers of the connection or of a plugin', async () => {
  const direct = undiciTransport()
  const polls: WireRequest[] = []
  const transport: Transport = {
    ...direct,
    send(wire, handler) {
      if (!wire.url.startsWith('https://poll.example.com/')) return direct.send(wire, handler)
      polls.push(wire)
      const body = JSON.stringify({ status: 'Ready', result: { sample: 'https://example.com/a.png' } })
      queueMicrotask(() => {
        handler.head(
          200,
          headerBag(() => ['content-type', 'application/json']),
        )
        handler.data(Buffer.from(body))
        handler.end()
      })
      return { abort() {} }
    },
  }
  const started = JSON.stringify({ id: 'job', polling_url: 'https://poll.example.com/v1/get_result?id=job' })
  const keyed = definePlugin({
    name: 'keyed',
    setup(gateway) {
      gateway.hook('encoded', (_ctx, call) => void call.headers.set('x-own-key', 'sk-own'))
    },
  })
  const upstream: Step[] = [{ kind: 'raw', status: 200, body: started }]
  v = await vendors(['black-forest-labs'], { upstream, ports: { transport }, plugins: [keyed()] })
  const response = await v.t.post(path, { model: 'black-forest-labs/flux-pro', prompt: 'a cat' })
  expect(await response.json()).toMatchObject({ data: [{ url: 'https://example.com/a.png' }] })
  expect(polls).toMatchObject([{ method: 'GET', url: 'https://poll.example.com/v1/get_result?id=job' }])
  expect(sent().headers['x-key']).toBe('sk-black-forest-labs')
  expect(sent().headers['x-own-key']).toBe('sk-own')
  expect(polls[0]?.headers.join()).not.toMatch(/sk-black-forest-labs|sk-own/)
  await direct.close()
})

it.each(['Content Moderated', 'Request Moderated'])('%s is 400, and no other connection is tried', async (status) => {
  v = await vendors(['black-forest-labs'], { upstream: [polled(status)] })
  const response = await v.t.post(path, { model: 'black-forest-labs/flux-pro', prompt: 'a cat' })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(status)])
  expect(v.vendor.requests).toHaveLength(2)
})
