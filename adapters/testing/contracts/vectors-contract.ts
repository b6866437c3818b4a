// Contract tests for a vector store. Shared state is tested when the subject has several instances.
import assert from 'node:assert/strict'
import type { VectorStore } from '../../../core/types/ports/ports.ts'
import type { ContractCase } from './contract.ts'

export interface VectorsSubject {
  /** Stores over one empty place, like several gateways; a store without sharing has one. */
  readonly instances: readonly VectorStore[]
  /** Epoch ms for all instances. */
  now(): number
  advance(ms: number): Promise<void>
  close(): Promise<void>
}

const HOUR = 3_600_000

export function vectorsContract(name: string, open: () => Promise<VectorsSubject>): ContractCase[] {
  const check = (what: string, run: (subject: VectorsSubject, store: VectorStore) => Promise<void>): ContractCase => ({
    name: `${name}: ${what}`,
    async run() {
      const subject = await open()
      try {
        await run(subject, subject.instances[0] as VectorStore)
      } finally {
        await subject.close()
      }
    },
  })
  const entry = (subject: VectorsSubject, id: string, vector: readonly number[], ttlMs = HOUR) => ({
    id,
    value: `value of ${id}`,
    expiresAt: subject.now() + ttlMs,
    vector: unit(vector),
  })
  return [
    check('finds the most similar of a scope, with its value and cosine', async (subject, store) => {
      assert.equal(await store.nearest('a', unit([1, 0, 0])), undefined)
      await store.add('a', entry(subject, 'x', [1, 0, 0]))
      await store.add('a', entry(subject, 'y', [0, 1, 0]))
      await store.add('a', entry(subject, 'between', [1, 1, 0]))
      const found = await store.nearest('a', unit([1, 0.2, 0]))
      assert.equal(found?.id, 'x')
      assert.equal(found?.value, 'value of x')
      assert.ok(Math.abs((found?.similarity ?? 0) - 1 / Math.sqrt(1.04)) < 1e-6)
      assert.equal((await store.nearest('a', unit([1, 0.9, 0])))?.id, 'between')
      const opposite = await store.nearest('a', unit([-1, -1, 0]))
      assert.ok((opposite?.similarity ?? 1) < 0)
    }),
    check('of equals the newest', async (subject, store) => {
      for (const id of ['old', 'older', 'newest']) await store.add('a', entry(subject, id, [0.3, 0.4, 0.5]))
      assert.equal((await store.nearest('a', unit([0.3, 0.4, 0.5])))?.id, 'newest')
    }),
    check('compares only vectors of one length: an embedder may have changed its own', async (subject, store) => {
      await store.add('a', entry(subject, 'long', [1, 0, 0]))
      assert.equal(await store.nearest('a', unit([1, 0])), undefined)
      await store.add('a', entry(subject, 'short', [1, 0]))
      assert.equal((await store.nearest('a', unit([1, 0])))?.id, 'short')
      assert.equal((await store.nearest('a', unit([1, 0, 0])))?.id, 'long')
    }),
    check('never looks into another scope, however its name begins', async (subject, store) => {
      for (const scope of ['a', 'ab', 'a:b', 'a*', '%']) await store.add(scope, entry(subject, `in ${scope}`, [1, 0]))
      for (const scope of ['a', 'ab', 'a:b', 'a*', '%'])
        assert.equal((await store.nearest(scope, unit([1, 0])))?.id, `in ${scope}`)
      for (const scope of ['b', '', 'a%', 'A', '*']) assert.equal(await store.nearest(scope, unit([1, 0])), undefined)
    }),
    check('forgets what has run out, to the millisecond', async (subject, store) => {
      await store.add('a', entry(subject, 'short', [1, 0], 60_000))
      await store.add('a', entry(subject, 'long', [0.9, 0.1], 120_000))
      await subject.advance(59_999)
      assert.equal((await store.nearest('a', unit([1, 0])))?.id, 'short')
      await subject.advance(1)
      assert.equal((await store.nearest('a', unit([1, 0])))?.id, 'long')
      await store.sweep()
      assert.equal((await store.nearest('a', unit([1, 0])))?.id, 'long')
      await subject.advance(60_000)
      await store.sweep()
      assert.equal(await store.nearest('a', unit([1, 0])), undefined)
    }),
    check('keeps the newest 2,000 of a scope', async (subject, store) => {
      const vectorOf = (n: number) => [Math.cos(n / 700), Math.sin(n / 700)]
      for (let n = 0; n < 2003; n += 20) {
        const block = Array.from({ length: Math.min(20, 2003 - n) }, (_one, i) => n + i)
        for (const one of block) await store.add('a', entry(subject, `n${one}`, vectorOf(one)))
      }
      assert.equal((await store.nearest('a', unit(vectorOf(3))))?.id, 'n3')
      assert.equal((await store.nearest('a', unit(vectorOf(0))))?.id, 'n3')
      assert.equal((await store.nearest('a', unit(vectorOf(2002))))?.id, 'n2002')
    }),
    check('carries any text as a value, and 3,072 dimensions', async (subject, store) => {
      const vector = Array.from({ length: 3072 }, (_one, i) => Math.sin(i))
      const value = `\u0000 "quoted" 'single' {curly} \\ 日本 👍 ${'x'.repeat(50_000)}`.replace('\u0000', '')
      await store.add('a', { ...entry(subject, 'large', vector), value })
      const found = await store.nearest('a', unit(vector))
      assert.equal(found?.value, value)
      assert.ok(Math.abs((found?.similarity ?? 0) - 1) < 1e-5)
    }),
    check('what one gateway adds the others find, in the order it was added', async (subject) => {
      const [here, there] = subject.instances
      if (here === undefined || there === undefined) return
      await here.add('a', entry(subject, 'of here', [1, 0]))
      assert.equal((await there.nearest('a', unit([1, 0])))?.id, 'of here')
      await there.add('a', entry(subject, 'of there', [1, 0]))
      for (const store of [here, there]) assert.equal((await store.nearest('a', unit([1, 0])))?.id, 'of there')
    }),
  ]
}

function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}
