// Guests for tests, put together as WAT: what an export says or does, and for which inputs.
import wabt from 'wabt'

/** The body of an export: instructions that may call $say (of a text below), $has and the host. */
export interface GuestParts {
  manifest?: object
  /** By name: `on_request` … */
  exports?: Record<string, Body>
  /** More of the module. */
  more?: string
  memory?: string
}

/** Texts by name become `(call $say_<name>)`, and `(call $has_<name>)` is 1 where the input contains them. */
export interface Body {
  texts?: Record<string, string | Uint8Array>
  code: string
}

export const says = (answer: unknown): Body => ({
  texts: { answer: typeof answer === 'string' || answer instanceof Uint8Array ? answer : JSON.stringify(answer) },
  code: '(call $say_answer)',
})

/** Does it only when the input contains the text, or else goes on. */
export const when = (text: string, { texts, code }: Body): Body => ({
  texts: { ...texts, needle: text },
  code: `(if (call $has_needle) (then ${code}))`,
})

export const LOOP: Body = { code: '(loop $again (br $again))' }
export const TRAP: Body = { code: 'unreachable' }
export const LOG_FLOOD: Body = {
  texts: { line: 'x'.repeat(200) },
  code: '(local.set $block (call $block_line)) (loop $again (call $log_info (local.get $block)) (br $again))',
}
/** Its own memory until it gets no more (and says how much that was), then the host's. */
export const MEMORY_BOMB: Body = {
  code: `(loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (loop $more (drop (call $alloc (i64.const 1048576))) (br $more))`,
}
export const HUGE_BLOCK: Body = { code: '(call $output_set (call $alloc (i64.const 68719476736)) (i64.const 16))' }
export const HUGE_OUTPUT: Body = { code: '(call $output_set (call $alloc (i64.const 8)) (i64.const 67108864))' }
export const NEGATIVE_OUTPUT: Body = { code: '(call $output_set (call $alloc (i64.const 8)) (i64.const -1))' }
export const LYING_OUTPUT: Body = { code: '(call $output_set (call $alloc (i64.const 8)) (i64.const 4000000))' }

/** Gives back the named member, which is the last one of the input, with a `*` for every `#`. */
export const stars = (member: Member): Body => replacing(member, '*')
/** Gives it back as it came. */
export const echoes = (member: Member): Body => replacing(member, '#')

type Member = 'request' | 'response' | 'events'

const replacing = (member: Member, to: string): Body => ({
  texts: { member: `"${member}":`, head: '{"action":"replace",' },
  code: `
    (local.set $at (call $find_member))
    (local.set $length (i64.sub (call $input_length) (local.get $at)))
    (local.set $block (call $alloc (i64.add (local.get $length) (i64.const 20))))
    (loop $head
      (call $store_u8 (i64.add (local.get $block) (local.get $i)) (i32.load8_u (i32.wrap_i64 (i64.add (i64.const $at_head) (local.get $i)))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $head (i64.lt_u (local.get $i) (i64.const 20))))
    (local.set $i (i64.const 0))
    (loop $copy
      (local.set $byte (call $input_load_u8 (i64.add (local.get $at) (local.get $i))))
      (call $store_u8
        (i64.add (local.get $block) (i64.add (local.get $i) (i64.const 20)))
        (select (i32.const ${to.charCodeAt(0)}) (local.get $byte) (i32.eq (local.get $byte) (i32.const 35))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $copy (i64.lt_u (local.get $i) (local.get $length))))
    (call $output_set (local.get $block) (i64.add (local.get $length) (i64.const 20)))`,
})

const HOST: Record<string, string> = {
  input_length: '(result i64)',
  input_load_u8: '(param i64) (result i32)',
  alloc: '(param i64) (result i64)',
  free: '(param i64)',
  length: '(param i64) (result i64)',
  load_u8: '(param i64) (result i32)',
  load_u64: '(param i64) (result i64)',
  store_u8: '(param i64 i32)',
  store_u64: '(param i64 i64)',
  output_set: '(param i64 i64)',
  error_set: '(param i64)',
  config_get: '(param i64) (result i64)',
  var_get: '(param i64) (result i64)',
  var_set: '(param i64 i64)',
  log_info: '(param i64)',
}

export async function guest(parts: GuestParts): Promise<Uint8Array> {
  const { exports = {}, more = '', memory = '(memory (export "memory") 32)' } = parts
  const hooks = Object.keys(exports).filter((name) => ['on_request', 'on_response', 'on_chunk'].includes(name))
  const manifest = parts.manifest ?? { abi: 1, name: 'test-guest', version: '1', hooks: hooks.map((name) => name.slice(3)) }
  const all: Record<string, Body> = { manifest: says(manifest), ...exports }
  let at = 1024
  const functions = Object.entries(all).map(([name, { texts = {}, code }]) => {
    let body = code
    const made = Object.entries(texts).map(([word, text]) => {
      const bytes = Buffer.from(text as string)
      const data = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('')
      const own = `${name}_${word}`
      for (const call of ['say', 'has', 'find', 'block']) body = body.replaceAll(`$${call}_${word})`, `$${call}_${own})`)
      body = body.replaceAll(`$at_${word})`, `${at})`)
      const place = `(i32.const ${at}) (i32.const ${bytes.length})`
      at += bytes.length + 16
      return `(data (i32.const ${at - bytes.length - 16}) "${data}")
        (func $block_${own} (result i64) (call $block ${place}))
        (func $say_${own} (call $output_set (call $block ${place}) (i64.const ${bytes.length})))
        (func $find_${own} (result i64) (call $find ${place}))
        (func $has_${own} (result i32) (i64.ge_s (call $find ${place}) (i64.const 0)))`
    })
    return `${made.join('\n')}
      (func (export "${name}") (result i32) (local $at i64) (local $length i64) (local $block i64) (local $i i64) (local $byte i32)
        ${body} (i32.const 0))`
  })
  const imports = Object.entries(HOST).map(([name, type]) => `(import "extism:host/env" "${name}" (func $${name} ${type}))`)
  return assemble(`(module ${imports.join('\n')} ${memory} ${COMMON} ${functions.join('\n')} ${more})`)
}

const COMMON = `
  (func $block (param $at i32) (param $length i32) (result i64)
    (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (if (i32.eqz (local.get $length)) (then (return (local.get $block))))
    (loop $next
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $i))) (i32.load8_u (i32.add (local.get $at) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $length))))
    (local.get $block))
  (func $find (param $needle i32) (param $length i32) (result i64)
    (local $from i64) (local $i i32)
    (block $nowhere
      (loop $start
        (br_if $nowhere (i64.gt_s (i64.add (local.get $from) (i64.extend_i32_u (local.get $length))) (call $input_length)))
        (local.set $i (i32.const 0))
        (block $differs
          (loop $same
            (br_if $differs (i32.ne
              (i32.load8_u (i32.add (local.get $needle) (local.get $i)))
              (call $input_load_u8 (i64.add (local.get $from) (i64.extend_i32_u (local.get $i))))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $same (i32.lt_u (local.get $i) (local.get $length))))
          (return (local.get $from)))
        (local.set $from (i64.add (local.get $from) (i64.const 1)))
        (br $start)))
    (i64.const -1))`

export async function assemble(wat: string, features = {}): Promise<Uint8Array> {
  const { parseWat } = await wabt()
  const module = parseWat('guest.wat', wat, features)
  try {
    return Uint8Array.from(module.toBinary({}).buffer)
  } finally {
    module.destroy()
  }
}
