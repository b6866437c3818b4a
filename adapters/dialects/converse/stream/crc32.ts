// CRC-32 (IEEE 802.3), which guards each message of an event stream.

let table: Uint32Array | null = null

export function crc32(bytes: Uint8Array): number {
  table ??= made()
  let crc = 0xffffffff
  for (let i = 0; i < bytes.length; i++) crc = (table[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function made(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
    return value >>> 0
  })
}
