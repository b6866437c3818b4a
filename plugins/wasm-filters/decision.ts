// Parses a guest's output: limited in size, and strict about unknown members.
import { z } from 'zod'
import { canonicalResponse, streamEvent } from './answer-schema.ts'
import { FilterFailure } from './failure.ts'
import { canonicalRequest } from './request-schema.ts'

const goOn = z.strictObject({ action: z.literal('continue') })
const deny = z.strictObject({
  action: z.literal('deny'),
  /** Clamped to 400-499. */
  status: z.int(),
  message: z.string().min(1).max(2000),
  code: z
    .string()
    .regex(/^[a-z0-9_]{1,64}$/)
    .optional(),
})

export const requestDecision = z.discriminatedUnion('action', [
  goOn,
  z.strictObject({ action: z.literal('replace'), request: canonicalRequest }),
  deny,
  z.strictObject({ action: z.literal('respond'), response: canonicalResponse }),
])

export const responseDecision = z.discriminatedUnion('action', [
  goOn,
  z.strictObject({ action: z.literal('replace'), response: canonicalResponse }),
  deny,
])

export const chunkDecision = z.discriminatedUnion('action', [
  goOn,
  z.strictObject({ action: z.literal('replace'), events: z.array(streamEvent) }),
  deny,
])

/** A filter's name and the headers that it reads. */
export const filterManifest = z.strictObject({
  abi: z.literal(1),
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case words with dashes between them'),
  version: z.string().max(64),
  /** Default: the exported ones. */
  hooks: z.array(z.enum(['request', 'response', 'chunk'])).optional(),
  headers: z
    .array(
      z
        .string()
        .max(128)
        .regex(/^[a-z0-9-]+$/, 'must be in lower case')
        .refine((name) => !name.split('-').some((word) => SECRET_WORDS.has(word)), 'may carry a credential: no filter sees it'),
    )
    .max(32)
    .default([]),
})

export type RequestDecision = z.output<typeof requestDecision>
export type ResponseDecision = z.output<typeof responseDecision>
export type ChunkDecision = z.output<typeof chunkDecision>
export type Denial = z.output<typeof deny>

/** Words in the names of secret headers: `authorization`, `x-api-key`, `x-auth-token`, `set-cookie` … */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['auth', 'authorization', 'authentication', 'cookie', 'credential', 'credentials', 'jwt'],
  ...['key', 'apikey', 'password', 'secret', 'signature', 'token'],
])

/** @throws FilterFailure `bad_output` with the place. */
export function readAnswer<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new FilterFailure('bad_output', 'Its output is no JSON.')
  }
  refuseForged(value)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue === undefined || issue.path.length === 0 ? 'Its output' : `In its output \`${issue.path.join('.')}\``
  throw new FilterFailure('bad_output', `${where} is not what the ABI asks for: ${issue?.message ?? 'unknown'}`)
}

/** JSON can name a prototype and write infinity (1e999); neither may reach later code. The worker has limited the size. */
function refuseForged(value: unknown): void {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'number' && !Number.isFinite(one))
      throw new FilterFailure('bad_output', 'Its output has a number that is too large.')
    if (typeof one !== 'object' || one === null) continue
    if (Object.hasOwn(one, '__proto__')) throw new FilterFailure('bad_output', 'Its output has a member `__proto__`.')
    for (const member of Object.values(one)) left.push(member)
  }
}
