// The hooks that a request certainly reached, from its log row. The row does not name hooks; it tells how far the request came.
/** Of a row of the log. */
interface Logged {
  readonly attempts: readonly { readonly skipped: unknown; readonly lane: string | null }[]
  readonly cached: boolean
  readonly status: number
  readonly stream: boolean
}

const ALWAYS = ['ingress', 'authenticate', 'settle', 'settled']
const TO_THE_CACHE = ['access', 'resolve', 'request', 'answer']
const TO_THE_CALL = [...TO_THE_CACHE, 'admit', 'reserve', 'candidates', 'call']
const EACH_ATTEMPT = ['attempt', 'prepare', 'encoded']

export function reachedHooks({ attempts, cached, status, stream }: Logged): ReadonlySet<string> {
  const tried = attempts.filter(({ skipped }) => skipped === null)
  const reached = new Set(ALWAYS)
  const add = (hooks: readonly string[]): void => hooks.forEach((hook) => void reached.add(hook))
  if (cached) add(TO_THE_CACHE)
  if (attempts.length > 0) add(TO_THE_CALL)
  if (tried.length > 0) add(EACH_ATTEMPT)
  // An answer that was passed on as bytes met no hook of its content.
  if (tried.length > 0 && status < 400 && tried.at(-1)?.lane !== 'bytes') add(stream ? ['stream', 'stream:batch'] : ['response'])
  return reached
}
