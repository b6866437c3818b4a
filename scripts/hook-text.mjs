// Describes inputs and effects of each hook, for docs/hooks.md. `ctx` always comes first and is left out.
export const HOOK_TEXT = {
  ingress: { gets: '() => void', may: 'Look at the headers, refuse. The body is not read yet.' },
  authenticate: {
    gets: '() => Principal | undefined',
    may: 'Say who calls. The first answer counts; throw a 401 for a bad credential.',
  },
  access: { gets: '() => void', may: 'Refuse by what was sent: model, key, rate.' },
  resolve: { gets: '() => Plan | undefined', may: 'Turn the model string into targets. The first plan counts.' },
  request: { gets: '() => void', may: 'Refuse, or change the request through `ctx.edit()`.' },
  answer: { gets: '() => Result | undefined', may: 'Answer instead of an upstream: a cache.' },
  admit: { gets: '(unit) => void', may: 'Refuse, ask for a reservation with `ledger.hold()`, take a lease with `ctx.hold()`.' },
  reserve: { gets: '(unit) => void', may: 'Write what the `admit` hooks asked for, in the same commit.' },
  candidates: { gets: '(candidates) => Candidate[]', may: 'Drop (with `ctx.skip()`) or reorder the target × connection pairs.' },
  call: { gets: '(next) => Promise<Result>', may: 'Wrap the walk over all candidates.' },
  attempt: {
    gets: '(candidate, next) => Promise<Result>',
    may: 'Wrap one candidate: retry it, time it, throw with `skip` to pass it over.',
  },
  prepare: { gets: '(call) => void', may: 'Change this attempt’s copy of the request through `call.edit()`.' },
  encoded: { gets: '(call) => void', may: 'Edit the wire body by path, and the headers. No credential is in them yet.' },
  stream: {
    gets: '() => StreamTransform | undefined',
    may: 'Map, hold back, drop or add events, synchronously. A `passive` one only watches.',
  },
  'stream:batch': { gets: '(events) => StreamEvent[]', may: 'The same asynchronously, once per network read.' },
  response: { gets: '(response) => CanonicalResponse | void', may: 'Replace or refuse a whole answer.' },
  settle: { gets: '(outcome, unit) => void', may: 'Book. Synchronous; every handler runs.' },
  settled: { gets: '(outcome) => void', may: 'Observe. The client does not wait for it.' },
  ready: { gets: '() => void', may: 'Run once after the boot; a failure stops it. No `ctx`.' },
  close: { gets: '() => void', may: 'Run once when the gateway closes. No `ctx`.' },
}
