// One filter inside the worker: the compiled and checked module, and an instance that is replaced after a trap, because its memory may be
// inconsistent.
import { createKernel, type Kernel, type LogLine } from './extism-host.ts'
import { type FailureReason, FilterFailure } from './failure.ts'
import { MAX_DEPTH, MAX_VALUES } from './limits.ts'

export interface GuestReply {
  readonly output: string
  readonly failure: { readonly reason: FailureReason; readonly message: string } | null
  readonly lines: readonly LogLine[]
  /** True: the next call runs in a new instance. */
  readonly renewed: boolean
}

export interface Guest {
  /** Names of its exported functions. */
  readonly exports: readonly string[]
  call(name: string, input: string, now: number): GuestReply
}

/** Compiles, instantiates, initialises. @throws Error naming the forbidden import. */
export function openGuest(wasm: Uint8Array<ArrayBuffer>, config: Readonly<Record<string, string>>): Guest {
  const module = new WebAssembly.Module(wasm)
  refuseImports(module)
  let running: { kernel: Kernel; exports: WebAssembly.Exports } | null = instantiate(module, config)
  const exports = WebAssembly.Module.exports(module)

  return {
    exports: exports.filter(({ kind }) => kind === 'function').map(({ name }) => name),
    call(name, input, now) {
      let kernel: Kernel | null = null
      try {
        running ??= instantiate(module, config)
        kernel = running.kernel
        kernel.begin(input, now)
        const code: unknown = (running.exports[name] as () => unknown)()
        const said = kernel.error()
        if (said !== null || (typeof code === 'number' && code !== 0))
          throw new FilterFailure('trap', said === null ? `It returned ${code}.` : `It says: ${said}`)
        const output = kernel.output()
        refuseBombs(output)
        return { output, failure: null, lines: kernel.lines, renewed: false }
      } catch (error) {
        // After an invalid answer the guest's memory is still consistent.
        const sound = error instanceof FilterFailure && (error.reason === 'bad_output' || error.reason === 'too_large')
        if (!sound) running = null
        return { output: '', failure: failureOf(error), lines: kernel?.lines ?? [], renewed: !sound }
      }
    },
  }
}

function instantiate(module: WebAssembly.Module, config: Readonly<Record<string, string>>) {
  const kernel = createKernel(config)
  const { exports } = new WebAssembly.Instance(module, kernel.imports as WebAssembly.Imports)
  if (typeof exports._initialize === 'function') exports._initialize()
  return { kernel, exports }
}

function refuseImports(module: WebAssembly.Module): void {
  const { imports } = createKernel({})
  const unknown = WebAssembly.Module.imports(module)
    .filter(
      ({ module: from, name, kind }) => kind !== 'function' || imports[from] === undefined || !Object.hasOwn(imports[from], name),
    )
    .map(({ module: from, name }) => `${from}.${name}`)
  if (unknown.length === 0) return
  const wasi = unknown.some((name) => name.startsWith('wasi'))
    ? ' Build it for wasm32-unknown-unknown: there is no WASI here.'
    : ''
  throw new Error(`It imports what filters do not get: ${unknown.slice(0, 5).join(', ')}.${wasi}`)
}

function failureOf(error: unknown): { reason: FailureReason; message: string } {
  if (error instanceof FilterFailure) return { reason: error.reason, message: error.message }
  return { reason: 'trap', message: error instanceof Error ? `It trapped: ${error.message}` : 'It trapped.' }
}

/** Limits depth and number of values before the gateway parses the text. JSON.parse checks the grammar. */
function refuseBombs(text: string): void {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = stringEnd(text, at)
    else if (code === 0x7b || code === 0x5b) {
      depth++
      values++
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2c) values++
    if (depth > MAX_DEPTH) throw new FilterFailure('bad_output', `Its output is nested deeper than ${MAX_DEPTH} levels.`)
    if (values > MAX_VALUES) throw new FilterFailure('bad_output', `Its output has more than ${MAX_VALUES} values.`)
  }
}

/** Returns the offset of the closing quote, or of the text's end. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}
