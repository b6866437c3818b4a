// Uploads wait for memory in the order of their arrival.
import { expect, it } from 'vitest'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { Uploads } from '../../core/load/uploads.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'

const never = { onStop: () => () => {} }

it('lets uploads in while they fit, then one by one in order', async () => {
  const uploads = new Uploads(100)
  const entered: number[] = []
  const enter = (size: number, name: number) =>
    uploads.enter(size, never).then((release) => {
      entered.push(name)
      return release
    })
  const [first, second, third, fourth] = [enter(60, 1), enter(40, 2), enter(50, 3), enter(1, 4)]
  const releases = [await first, await second]
  expect(entered).toEqual([1, 2])
  expect(uploads.held).toBe(100)
  releases[1]?.()
  releases[1]?.()
  expect(uploads.held).toBe(60)
  releases[0]?.()
  await Promise.all([third, fourth])
  expect(entered).toEqual([1, 2, 3, 4])
  expect(uploads.held).toBe(51)
})

it('a single upload over the limit enters alone', async () => {
  const uploads = new Uploads(10)
  const release = await uploads.enter(1000, never)
  release()
  expect(uploads.held).toBe(0)
})

it('an upload whose caller leaves gives up its place', async () => {
  const uploads = new Uploads(10)
  const release = await uploads.enter(10, never)
  let stop: (reason: GatewayErrorShape) => void = () => {}
  const left = uploads.enter(10, {
    onStop(fn) {
      stop = fn
      return () => {}
    },
  })
  const next = uploads.enter(5, never)
  stop(GatewayError.clientGone())
  await expect(left).rejects.toMatchObject({ status: 499 })
  release()
  await next
  expect(uploads.held).toBe(5)
})
