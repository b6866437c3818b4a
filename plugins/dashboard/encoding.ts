// Selects the compressed form of a file that a browser accepts.
import type { Asset } from './assets.ts'

const PREFERRED = ['br', 'gzip'] as const

export function encodingFor(accepted: string | null, asset: Asset): { encoding: string | null; bytes: Uint8Array<ArrayBuffer> } {
  const names = new Set((accepted ?? '').split(',').map((part) => part.trim().toLowerCase()))
  for (const encoding of PREFERRED) {
    const bytes = asset[encoding]
    if (bytes !== undefined && names.has(encoding)) return { encoding, bytes }
  }
  return { encoding: null, bytes: asset.plain }
}
