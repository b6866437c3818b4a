;; The twin of src/lib.rs, written by hand: it refuses requests that contain a word (config `word`, ASCII, any case).
;; It looks at the request as JSON text and knows no more of it. Assembled into filter.wasm.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))

  (memory (export "memory") 1)
  (data (i32.const 0) "word")
  (data (i32.const 16) "\"request\":")
  (data (i32.const 64) "{\"abi\":1,\"name\":\"forbidden-word\",\"version\":\"1.0.0\"}")
  (data (i32.const 256) "{\"action\":\"deny\",\"status\":400,\"message\":\"The request contains a word that is not wanted here.\",\"code\":\"forbidden_word\"}")

  ;; Copies bytes of this memory into a block of the host.
  (func $block (param $at i32) (param $length i32) (result i64)
    (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (loop $next
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (i32.add (local.get $at) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $length))))
    (local.get $block))

  (func $say (param $at i32) (param $length i32)
    (call $output_set (call $block (local.get $at) (local.get $length)) (i64.extend_i32_u (local.get $length))))

  (func $lower (param $byte i32) (result i32)
    (select
      (i32.add (local.get $byte) (i32.const 32))
      (local.get $byte)
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 65)) (i32.const 26))))

  ;; Where the bytes at $needle (this memory's, or with $host the host's) begin in the input, from $from on; -1: nowhere.
  (func $find (param $needle i64) (param $length i64) (param $host i32) (param $from i64) (result i64)
    (local $end i64) (local $i i64) (local $byte i32)
    (local.set $end (i64.sub (call $input_length) (local.get $length)))
    (block $nowhere
      (loop $start
        (br_if $nowhere (i64.gt_s (local.get $from) (local.get $end)))
        (local.set $i (i64.const 0))
        (block $differs
          (loop $same
            (local.set $byte
              (if (result i32) (local.get $host)
                (then (call $load_u8 (i64.add (local.get $needle) (local.get $i))))
                (else (i32.load8_u (i32.wrap_i64 (i64.add (local.get $needle) (local.get $i)))))))
            (br_if $differs
              (i32.ne
                (call $lower (local.get $byte))
                (call $lower (call $input_load_u8 (i64.add (local.get $from) (local.get $i))))))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br_if $same (i64.lt_u (local.get $i) (local.get $length))))
          (return (local.get $from)))
        (local.set $from (i64.add (local.get $from) (i64.const 1)))
        (br $start)))
    (i64.const -1))

  (func (export "manifest") (result i32)
    (call $say (i32.const 64) (i32.const 51))
    (i32.const 0))

  (func (export "on_request") (result i32)
    (local $word i64) (local $length i64) (local $request i64)
    (local.set $word (call $config_get (call $block (i32.const 0) (i32.const 4))))
    (local.set $length (call $length (local.get $word)))
    (if (i64.eqz (local.get $length)) (then (return (i32.const 0))))
    (local.set $request (call $find (i64.const 16) (i64.const 10) (i32.const 0) (i64.const 0)))
    (if (i64.ge_s (call $find (local.get $word) (local.get $length) (i32.const 1) (local.get $request)) (i64.const 0))
      (then (call $say (i32.const 256) (i32.const 119))))
    (i32.const 0)))
