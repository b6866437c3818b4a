// The host side of the Extism guest ABI: a separate memory with offsets for input and output, and the functions of `extism:host/env` over
// it. limits.ts has its limits. It runs in the worker.
import { FilterFailure } from './failure.ts'
import { MAX_LOG_BYTES, MAX_LOG_LINES, MAX_PAGES, MAX_TEXT_BYTES, MAX_VAR_BYTES } from './limits.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  level: LogLevel
  text: string
}

export interface Kernel {
  /** By namespace, as a module imports them. */
  readonly imports: Readonly<Record<string, Readonly<Record<string, (...args: never[]) => number | bigint | undefined>>>>
  /** Clears the state of the last call, except its variables. `now`: the result of `gw_now_ms`, epoch ms. */
  begin(input: string, now: number): void
  /** Returns the guest's output; '' without one. @throws FilterFailure when it is too large, or not UTF-8. */
  output(): string
  /** Returns the guest's error message. */
  error(): string | null
  readonly lines: readonly LogLine[]
}

const PAGE = 65_536
/** Each block is preceded by its length. Offset 0 is the ABI's null. */
const HEADER = 8
const FIRST = 16
/** Extism's number of the lowest logged level: debug. */
const LOG_LEVEL = 1
const LEVELS: readonly LogLevel[] = ['debug', 'debug', 'info', 'warn', 'error']

const encoder = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true })
const lenient = new TextDecoder()

export function createKernel(config: Readonly<Record<string, string>>): Kernel {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES })
  const vars = new Map<string, Uint8Array>()
  let bytes = new Uint8Array(memory.buffer)
  let view = new DataView(memory.buffer)
  let top = FIRST
  let input = { at: 0, length: 0 }
  let output = { at: 0, length: 0 }
  let failure: string | null = null
  let clock = 0
  let lines: LogLine[] = []

  function reserve(length: number): number {
    const end = top + HEADER + Math.ceil(length / 8) * 8
    if (!(end <= MAX_PAGES * PAGE))
      throw new FilterFailure('memory', `It asked the host for more than ${MAX_PAGES} pages of memory.`)
    if (end > bytes.length) {
      memory.grow(Math.ceil((end - bytes.length) / PAGE))
      bytes = new Uint8Array(memory.buffer)
      view = new DataView(memory.buffer)
    }
    view.setUint32(top, length, true)
    const at = top + HEADER
    top = end
    return at
  }

  /** A guest may write anywhere below `top`, so a block's stored length is trusted only within that limit. */
  function lengthOf(offset: number): number {
    if (offset < FIRST + HEADER || offset >= top || offset % 8 !== 0) return 0
    return Math.min(view.getUint32(offset - HEADER, true), top - offset)
  }

  function within(offset: bigint, length: number): number {
    const at = numberOf(offset)
    if (at < FIRST || at + length > top) throw new FilterFailure('trap', `It reached outside its blocks, at ${offset}.`)
    return at
  }

  function withinInput(offset: bigint, length: number): number {
    const from = numberOf(offset)
    if (from + length > input.length) throw new FilterFailure('trap', `It read outside its input, at ${offset}.`)
    return input.at + from
  }

  const block = (offset: bigint): Uint8Array => {
    const at = numberOf(offset)
    return bytes.subarray(at, at + lengthOf(at))
  }
  const stored = (data: Uint8Array): bigint => {
    const at = reserve(data.length)
    bytes.set(data, at)
    return BigInt(at)
  }
  const log = (level: LogLevel, data: Uint8Array): undefined => {
    if (lines.length < MAX_LOG_LINES) lines.push({ level, text: lenient.decode(data.subarray(0, MAX_LOG_BYTES)) })
  }
  const logAt = (level: LogLevel) => (offset: bigint) => log(level, block(offset))

  const env = {
    alloc: (length: bigint) => (length === 0n ? 0n : BigInt(reserve(numberOf(length)))),
    free(offset: bigint): undefined {
      const at = numberOf(offset)
      if (at >= FIRST + HEADER && at + Math.ceil(lengthOf(at) / 8) * 8 === top) top = at - HEADER
    },
    length: (offset: bigint) => BigInt(lengthOf(numberOf(offset))),
    length_unsafe: (offset: bigint) => BigInt(lengthOf(numberOf(offset))),
    load_u8: (offset: bigint) => bytes[within(offset, 1)] as number,
    load_u64: (offset: bigint) => view.getBigUint64(within(offset, 8), true),
    store_u8(offset: bigint, value: number): undefined {
      bytes[within(offset, 1)] = value
    },
    store_u64(offset: bigint, value: bigint): undefined {
      view.setBigUint64(within(offset, 8), value, true)
    },
    input_offset: () => BigInt(input.at),
    input_length: () => BigInt(input.length),
    input_load_u8: (offset: bigint) => bytes[withinInput(offset, 1)] as number,
    input_load_u64: (offset: bigint) => view.getBigUint64(withinInput(offset, 8), true),
    output_set(offset: bigint, length: bigint): undefined {
      const size = numberOf(length)
      // Refused after the guest has returned: an exception here would interrupt the guest and leave its state incomplete.
      const at = size === 0 || size > MAX_TEXT_BYTES ? 0 : within(offset, size)
      output = { at, length: size }
    },
    error_set(offset: bigint): undefined {
      failure = offset === 0n ? null : lenient.decode(block(offset).subarray(0, MAX_LOG_BYTES))
    },
    config_get(key: bigint): bigint {
      const name = lenient.decode(block(key))
      return Object.hasOwn(config, name) ? stored(encoder.encode(config[name])) : 0n
    },
    var_get(key: bigint): bigint {
      const value = vars.get(lenient.decode(block(key)))
      return value === undefined ? 0n : stored(value)
    },
    var_set(key: bigint, value: bigint): undefined {
      const name = lenient.decode(block(key))
      vars.delete(name)
      if (value === 0n) return
      const kept = block(value).slice()
      let size = name.length + kept.length
      for (const [other, { length }] of vars) size += other.length + length
      if (size > MAX_VAR_BYTES) throw new FilterFailure('memory', `Its variables have more than ${MAX_VAR_BYTES} bytes.`)
      vars.set(name, kept)
    },
    get_log_level: () => LOG_LEVEL,
    log_trace: (_offset: bigint): undefined => undefined,
    log_debug: logAt('debug'),
    log_info: logAt('info'),
    log_warn: logAt('warn'),
    log_error: logAt('error'),
  }
  const user = {
    gw_now_ms: () => BigInt(clock),
    gw_log: (level: number, offset: bigint) =>
      log(LEVELS[Math.min(Math.max(level, 0), LEVELS.length - 1)] as LogLevel, block(offset)),
  }

  return {
    imports: { 'extism:host/env': env, 'extism:host/user': user },
    begin(text, now) {
      top = FIRST
      lines = []
      failure = null
      output = { at: 0, length: 0 }
      clock = Math.floor(now)
      const data = encoder.encode(text)
      input = { at: data.length === 0 ? 0 : reserve(data.length), length: data.length }
      bytes.set(data, input.at)
    },
    output() {
      if (output.length > MAX_TEXT_BYTES)
        throw new FilterFailure('too_large', `Its output has more than ${MAX_TEXT_BYTES} bytes.`)
      try {
        return strict.decode(bytes.subarray(output.at, output.at + output.length))
      } catch {
        throw new FilterFailure('bad_output', 'Its output is no UTF-8.')
      }
    },
    error: () => failure,
    get lines() {
      return lines
    },
  }
}

/** Offsets and lengths are unsigned; a number beyond any memory stays beyond it. */
function numberOf(value: bigint): number {
  return Number(BigInt.asUintN(64, value))
}
