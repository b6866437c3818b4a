// Sizes in pixels and aspect ratios: vendors take one or the other.
import type { CodecContext } from '../../../core/types/request/dialect.ts'

/** The ratios that each vendor takes. */
export const RATIOS = {
  imagen: ['1:1', '3:4', '4:3', '9:16', '16:9'],
  gemini: ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
  stability: ['1:1', '2:3', '3:2', '4:5', '5:4', '9:16', '16:9', '9:21', '21:9'],
  bfl: ['1:1', '2:3', '3:2', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9'],
  xai: ['1:1', '2:3', '3:2', '3:4', '4:3', '9:16', '16:9', '1:2', '2:1'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Sizes of OpenAI that stand for a ratio which they do not have exactly. */
const NAMED: Readonly<Record<string, string>> = { '1792x1024': '16:9', '1024x1792': '9:16' }

/** Returns null for `auto` and for what is no size. */
export function pixelsOf(size: string | undefined): { width: number; height: number } | null {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size ?? '') ?? []
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) }
}

/** Returns the ratio of a size that is nearest to it, and whether it is exact; null for `auto` and unknown sizes. */
export function ratioOf(size: string | undefined, taken: readonly string[]): { ratio: string; exact: boolean } | null {
  const pixels = pixelsOf(size)
  if (pixels === null || pixels.width === 0 || pixels.height === 0) return null
  const named = NAMED[size as string]
  if (named !== undefined && taken.includes(named)) return { ratio: named, exact: true }
  const wanted = Math.log(pixels.width / pixels.height)
  const off = (ratio: string): number => Math.abs(Math.log(quotient(ratio)) - wanted)
  const nearest = taken.reduce((best, ratio) => (off(ratio) < off(best) ? ratio : best))
  return { ratio: nearest, exact: off(nearest) < 0.005 }
}

/** The same, with a warning when the ratio is not exact. */
export function ratioFor(size: string | undefined, taken: readonly string[], codec: CodecContext): string | undefined {
  const found = ratioOf(size, taken)
  if (found?.exact === false) codec.warn('aspect_ratio_approximated')
  return found?.ratio
}

function quotient(ratio: string): number {
  const [width, height] = ratio.split(':')
  return Number(width) / Number(height)
}
