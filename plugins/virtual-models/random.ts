// The draw of `weighted`, from the system's random source unless somebody brings another.

/** In [0, 1). */
export function systemRandom(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32
}
