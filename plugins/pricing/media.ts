// Media prices of a model: an image by quality and size, by size, by quality, by itself, then by its pixels.
import type { PriceList } from './price-names.ts'
import type { MediaPrices, MediaWish } from './service.ts'

const SIZE = /^(\d{1,5})\s*(?:x|-x-)\s*(\d{1,5})$/
const USUAL_SIZE = '1024x1024'
const USUAL_QUALITIES = ['standard', 'medium', 'auto']

export function mediaPrices(list: PriceList, wish: MediaWish = {}): MediaPrices {
  const perImage = imagePrice(list, wish)
  return {
    ...(perImage === undefined ? {} : { perImage }),
    ...only(list, 'per_second', 'perSecond'),
    ...only(list, 'per_character', 'perCharacter'),
    ...only(list, 'per_query', 'perQuery'),
    ...only(list, 'per_page', 'perPage'),
  }
}

function only(list: PriceList, name: string, as: keyof MediaPrices): MediaPrices {
  const nano = list[name]
  return nano === undefined ? {} : { [as]: nano }
}

function imagePrice(list: PriceList, wish: MediaWish): number | undefined {
  const [, width, height] = SIZE.exec((wish.size ?? USUAL_SIZE).toLowerCase()) ?? SIZE.exec(USUAL_SIZE) ?? []
  const size = `${width}x${height}`
  const quality = wish.quality?.toLowerCase()
  const qualities = quality === undefined ? USUAL_QUALITIES : [quality]
  const variants = [
    ...(quality === undefined ? [] : [`${quality}/${size}`]),
    size,
    ...qualities.map((one) => `${one}/${size}`),
    ...qualities,
  ]
  for (const variant of variants) if (list[`per_image:${variant}`] !== undefined) return list[`per_image:${variant}`]
  if (list.per_image !== undefined) return list.per_image
  const pixel = list[`per_pixel:${size}`] ?? list.per_pixel
  const nano = pixel === undefined ? undefined : pixel * Number(width) * Number(height)
  return nano !== undefined && Number.isSafeInteger(nano) ? nano : undefined
}
