// Hashes and checks the dashboard password: Argon2 in PHC form, in the thread pool and not on the event loop. Most gateways in a
// library have no password, so the native module is loaded on first use.
import type { parseOptions as Parse } from '@node-rs/argon2'
import { argon2 } from './argon2.ts'
import type { Passwords } from './service.ts'
import { slots } from './slots.ts'

/** About 20 MiB and some hundredths of a second. */
const OWN_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const MAX_MEMORY_KIB = 256 * 1024
const MAX_PASSES = 10
const MAX_LANES = 8
const MIN_SALT_BYTES = 8
/** Hashing shares its threads with DNS and file access. */
const HASHES_AT_ONCE = 2

const VARIABLE = 'GATEWAY_DASHBOARD_PASSWORD_HASH'
const HINT = 'Make one with `hookgate password hash`, and keep it in single quotes where a shell reads it: it has `$` in it.'

/** Returns Argon2id in PHC form, for GATEWAY_DASHBOARD_PASSWORD_HASH. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await argon2()
  return hash(password, OWN_COST)
}

/**
 * Returns a check against a PHC string of any Argon2 variant.
 * Rejects with an Error naming the variable for an invalid string, or for one that needs more than 256 MiB, 10 passes or 8 lanes.
 */
export async function passwordCheck(phc: string): Promise<(password: string) => Promise<boolean>> {
  const { parseOptions, verify } = await argon2()
  const { memoryCost, timeCost, parallelism, saltLen } = parsed(phc, parseOptions)
  const problems = [
    memoryCost > MAX_MEMORY_KIB && `m=${memoryCost} is more than ${MAX_MEMORY_KIB}`,
    memoryCost < 8 * parallelism && `m=${memoryCost} is less than eight times p`,
    timeCost > MAX_PASSES && `t=${timeCost} is more than ${MAX_PASSES}`,
    parallelism > MAX_LANES && `p=${parallelism} is more than ${MAX_LANES}`,
    saltLen < MIN_SALT_BYTES && `the salt is shorter than ${MIN_SALT_BYTES} bytes`,
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw new Error(`${VARIABLE} is refused: ${problems.join('; ')}. ${HINT}`)
  return (password) => verify(phc, password)
}

function parsed(phc: string, parse: typeof Parse): ReturnType<typeof Parse> {
  try {
    return parse(phc)
  } catch {
    throw new Error(`${VARIABLE} is not an Argon2 hash like \`$argon2id$v=19$m=19456,t=2,p=1$…\`. ${HINT}`)
  }
}

/** Hashes accounts' passwords. An unknown user's check runs against a hash that no password has. */
export function passwords(): Passwords {
  const hashing = slots(HASHES_AT_ONCE)
  let none: Promise<string> | null = null
  return {
    hash: (password) => hashing.run(() => hashPassword(password)),
    async check(password, phc) {
      none ??= hashPassword(crypto.randomUUID())
      const against = phc ?? (await none)
      const { verify } = await argon2()
      return (await hashing.run(() => verify(against, password))) && phc !== null
    },
  }
}
