// Decodes compressed answers under a size limit and a ratio limit. Some upstreams compress although the request asked for identity.
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'

export interface Decompressor {
  /** A promise: wait for it before the next write. */
  write(chunk: Uint8Array): Promise<void> | undefined
  end(): void
}

export interface DecompressorOutput {
  /** A promise: decoding waits for it. */
  data(chunk: Uint8Array): Promise<void> | undefined
  end(): void
  error(error: GatewayErrorShape): void
}

const MAX_OUT = 64 * 1024 * 1024
const MAX_RATIO = 100
/** Small bodies may exceed the ratio legitimately. */
const RATIO_FROM = 1024 * 1024

const DECODERS: Record<string, () => ReturnType<typeof createGunzip>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress as unknown as typeof createGunzip,
}

export function decompressor(encoding: string, output: DecompressorOutput): Decompressor {
  const make = DECODERS[encoding.trim().toLowerCase()]
  if (make === undefined) {
    queueMicrotask(() => output.error(GatewayError.protocol('The upstream used a content encoding that was not asked for.')))
    return { write: () => undefined, end() {} }
  }
  const stream = make()
  let read = 0
  let written = 0
  stream.on('data', (chunk: Buffer) => {
    written += chunk.length
    if (written > MAX_OUT || (written > RATIO_FROM && written > read * MAX_RATIO)) {
      stream.destroy()
      return output.error(GatewayError.protocol('The upstream answer expands beyond the limit.'))
    }
    const wait = output.data(chunk)
    if (wait === undefined) return
    stream.pause()
    void wait.then(() => stream.resume())
  })
  stream.on('end', () => output.end())
  stream.on('error', (error) => output.error(GatewayError.protocol('The upstream sent a broken compressed answer.', error)))
  return {
    write(chunk) {
      read += chunk.length
      if (stream.write(chunk) || stream.destroyed) return undefined
      return new Promise((resolve) => {
        const done = (): void => {
          stream.off('drain', done)
          stream.off('close', done)
          resolve()
        }
        stream.on('drain', done)
        stream.on('close', done)
      })
    },
    end: () => stream.end(),
  }
}
