// Sizes in pixels and aspect ratios: vendors take one or the other.

/** OpenAI's sizes; the ratio of another size is the nearest one. */
const RATIOS: readonly (readonly [ratio: string, value: number])[] = [
  ['1:1', 1],
  ['3:2', 3 / 2],
  ['2:3', 2 / 3],
  ['4:3', 4 / 3],
  ['3:4', 3 / 4],
  ['16:9', 16 / 9],
  ['9:16', 9 / 16],
  ['21:9', 21 / 9],
  ['9:21', 9 / 21],
]
const NAMED: Readonly<Record<string, string>> = { '1792x1024': '16:9', '1024x1792': '9:16' }

export function pixelsOf(size: string | undefined): { width: number; height: number } | null {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size ?? '') ?? []
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) }
}

/** Returns the aspect ratio of a size, and whether it is exact; null for `auto` and unknown sizes. */
export function ratioOf(size: string | undefined): { ratio: string; exact: boolean } | null {
  const named = NAMED[size ?? '']
  if (named !== undefined) return { ratio: named, exact: true }
  const pixels = pixelsOf(size)
  if (pixels === null) return null
  const wanted = pixels.width / pixels.height
  const [ratio, value] = [...RATIOS].sort(
    ([, a], [, b]) => Math.abs(Math.log(a / wanted)) - Math.abs(Math.log(b / wanted)),
  )[0] as [string, number]
  return { ratio, exact: Math.abs(value - wanted) < 0.005 }
}
