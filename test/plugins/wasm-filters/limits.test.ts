// Whatever a module says of its memory and tables, it ends where ours do.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../plugins/wasm-filters/extism-host.ts'
import { FilterFailure } from '../../../plugins/wasm-filters/failure.ts'
import { withLimits } from '../../../plugins/wasm-filters/module-limits.ts'
import { assemble } from './guests.ts'

const HEAD = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...leb(Math.floor(value / 0x80))]
}
function section(id: number, body: number[]): number[] {
  return [id, ...leb(body.length), ...body]
}
/** A memory that is exported as `m`, between sections of somebody's own. */
function moduleWith(minimum: number, maximum: number | null, custom: number[]): Uint8Array {
  const limits = maximum === null ? [0, ...leb(minimum)] : [1, ...leb(minimum), ...leb(maximum)]
  const own = section(0, [1, 0x78, ...custom])
  return Uint8Array.from([...HEAD, ...own, ...section(5, [1, ...limits]), ...section(7, [1, 1, 0x6d, 2, 0]), ...own])
}
const pages = fc.integer({ min: 0, max: 65_536 })
const custom = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 })

describe('the memory of a module', () => {
  it('can grow to its own maximum or to 256 pages, whichever is less; one that begins with more is refused', () => {
    fc.assert(
      fc.property(pages, fc.option(pages), custom, (minimum, above, bytes) => {
        const maximum = above === null ? null : Math.min(65_536, minimum + above)
        const module = moduleWith(minimum, maximum, bytes)
        if (minimum > 256) {
          expect(() => withLimits(module)).toThrow(`It asks for ${minimum} pages`)
          return
        }
        const limited = withLimits(module)
        expect(withLimits(limited)).toEqual(limited)
        const instance = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(limited)))
        const memory = instance.exports.m as WebAssembly.Memory
        expect(memory.buffer.byteLength).toBe(minimum * 65_536)
        const most = Math.min(maximum ?? 256, 256)
        expect(() => memory.grow(most - minimum + 1)).toThrow(RangeError)
        memory.grow(most - minimum)
        expect(memory.buffer.byteLength).toBe(most * 65_536)
      }),
      { numRuns: 60, seed: 7 },
    )
  })

  it('bytes that are no module are refused or left to the compiler, and never looked at for ever', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => {
        const bytes = Uint8Array.from([...HEAD, ...tail])
        let limited: Uint8Array
        try {
          limited = withLimits(bytes)
        } catch (error) {
          expect((error as Error).message).toMatch(/^(The module|It|Its) .*\.$/)
          return
        }
        expect(withLimits(limited)).toEqual(limited)
      }),
      { numRuns: 500, seed: 7 },
    )
  })

  it.each([
    ['two memories', '(memory 1) (memory 1)', /2 memories/],
    ['a shared one', '(memory 1 2 shared)', /shared/],
  ])('%s are refused', async (_name, wat, why) => {
    const features = { multi_memory: true, threads: true }
    const module = await assemble(`(module ${wat})`, features)
    expect(() => withLimits(module)).toThrow(why)
  })

  it('tables share 65,536 entries', async () => {
    const one = await assemble('(module (table (export "t") 10 funcref))')
    const { t } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(withLimits(one)))).exports
    expect(() => (t as WebAssembly.Table).grow(65_527)).toThrow(RangeError)
    expect((t as WebAssembly.Table).grow(65_526)).toBe(10)
    const two = await assemble('(module (table 40000 funcref) (table 40000 funcref))')
    expect(() => withLimits(two)).toThrow(/more than 65536 entries/)
  })
})

describe('what the host offers', () => {
  it('bears any call with any numbers: it answers, or says what was wrong', () => {
    const kernel = createKernel({ key: 'value' })
    const calls = Object.values(kernel.imports).flatMap((functions) => Object.values(functions)) as ((
      ...args: unknown[]
    ) => unknown)[]
    const anyOffset = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: 0n, max: 4096n }),
      fc.integer({ min: 0, max: 512 }).map((at) => BigInt(at * 8)),
    )
    const call = fc.tuple(fc.integer({ min: 0, max: calls.length - 1 }), anyOffset, anyOffset)
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), fc.array(call, { maxLength: 60 }), (input, made) => {
        kernel.begin(input, 0)
        for (const [index, first, second] of made) {
          const fn = calls[index] as (...args: unknown[]) => unknown
          try {
            fn(first, fn.name === 'store_u8' ? Number(second & 0xffn) : second)
          } catch (error) {
            // gw_log takes a number first: WebAssembly itself holds guests to that.
            if (!(error instanceof TypeError && fn.name === 'gw_log')) expect(error).toBeInstanceOf(FilterFailure)
          }
        }
        expect(kernel.lines.length).toBeLessThanOrEqual(16)
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  it('keeps variables from call to call, up to 1 MiB', () => {
    const kernel = createKernel({})
    const env = kernel.imports['extism:host/env'] as unknown as Record<string, (...args: bigint[]) => bigint>
    const block = (text: string) => {
      const at = env.alloc!(BigInt(text.length))
      for (let i = 0; i < text.length; i++)
        (env.store_u8 as unknown as (at: bigint, byte: number) => void)(at + BigInt(i), text.charCodeAt(i))
      return at
    }
    kernel.begin('', 0)
    env.var_set!(block('seen'), block('yes'))
    kernel.begin('', 0)
    expect(env.length!(env.var_get!(block('seen')))).toBe(3n)
    expect(() => env.var_set!(block('more'), env.alloc!(1n << 20n))).toThrow(/variables/)
    env.var_set!(block('seen'), 0n)
    expect(env.var_get!(block('seen'))).toBe(0n)
  })
})
