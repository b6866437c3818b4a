// Settings of V8 for the start of a server and for its requests.
import { setFlagsFromString } from 'node:v8'

/**
 * Modules of Node that a start loads. Node contains them as compiled code. V8 accepts this code only while its flags are those with which
 * it was made, so they are loaded before the first flag changes.
 */
const BUILTINS =
  `assert async_hooks child_process cluster crypto diagnostics_channel dns dns/promises fs/promises http http2 https module
  net os perf_hooks stream stream/promises timers/promises tls util url vm worker_threads zlib`.split(/\s+/)

/** A longer start has much to compute: a large configuration, or many rows. */
const SHORT_START_MS = 1000
/** The first collection of old objects waits for the first answers. */
const FIRST_REQUESTS_MS = 1000

/**
 * A start runs most functions a few times: compiling the others with optimizations takes more CPU time than it saves. It also keeps most of
 * the objects that it makes, so marking them frees little. Call the result when the server listens.
 */
export function startEngine(): () => void {
  for (const name of BUILTINS) process.getBuiltinModule(name)
  const serving = SERVING.filter((flag) => !isNamedByOperator(nameOf(flag)))
  if (isNamedByOperator('jitless|opt|maglev|turbofan|incremental-marking')) return () => setFlags(serving)
  setFlags(['--no-turbofan', '--no-maglev', '--no-incremental-marking', PARSER_BUDGET])
  const timer = setTimeout(setFlags, SHORT_START_MS, [...OPTIMIZING, MARKING])
  return () => {
    clearTimeout(timer)
    setFlags([...OPTIMIZING, ...serving])
    setTimeout(setFlags, FIRST_REQUESTS_MS, [MARKING]).unref()
  }
}

const V8 = Number.parseInt(process.versions.v8, 10)
/** Maglev is a default of V8 since version 12. */
const OPTIMIZING = V8 < 12 ? ['--turbofan'] : ['--turbofan', '--maglev']
const MARKING = '--incremental-marking'
/**
 * undici parses answers with a function of WebAssembly. V8 of Node 20 optimizes it with the first answer, which takes 130 ms of CPU time and
 * 29 MB. With this budget, that of later versions, it does so after some seven answers.
 */
const PARSER_BUDGET = '--wasm-tiering-budget=13000000'
/**
 * Keeps request objects in the young generation. V8 would allocate them in the old generation when a young generation is as short as a
 * request. Everything that they refer to would then survive each young collection (docs/performance.md). V8 decides so only at the full
 * size of the young generation, which a start does not reach.
 */
const YOUNG_OBJECTS = '--no-allocation-site-pretenuring'
/**
 * V8 of Node 24 collects the whole heap for every 20 to 60 MB of bodies: each body of a megabyte costs four times as much as on Node 20. With
 * the first flag, a default of later versions, it waits until the bodies in memory have grown by a share of the heap and of themselves. With
 * the second one that share is the largest that V8 chooses itself, so that young collections free most bodies before.
 */
const BODIES = ['--external-memory-accounted-in-global-limit', '--heap-growing-percent=300']
const SERVING = V8 === 13 ? [YOUNG_OBJECTS, ...BODIES] : [YOUNG_OBJECTS]

function setFlags(flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag)
}

/** Returns the name of a flag that is set or, with `--no-`, unset. */
function nameOf(flag: string): string {
  return flag.replace(/^--(?:no-)?|=.*$/g, '')
}

/** Returns whether the command line of Node or NODE_OPTIONS names one of these flags. `names`: a part of a regular expression. */
function isNamedByOperator(names: string): boolean {
  const options = `${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS ?? ''}`
  return new RegExp(`--(?:no[-_]?)?(?:${names.replaceAll('-', '[-_]')})\\b`).test(options)
}
