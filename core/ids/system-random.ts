// The default random source of code whose tests inject their own.

/** Returns a number in [0, 1) from the system's random source. */
export function systemRandom(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32
}
