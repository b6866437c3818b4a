// Resource limits of a filter. This file has no imports, because the worker loads it too.

/** Pages of 64 KiB: 16 MiB for the guest's own memory, and as much for its exchange with the host. */
export const MAX_PAGES = 256
/** For all tables of a module together: each entry takes 8 bytes of the host. */
export const MAX_TABLE_ENTRIES = 65_536
/** Bytes of a module. */
export const MAX_MODULE_BYTES = 16 << 20
/** UTF-8 bytes of an input or an output. */
export const MAX_TEXT_BYTES = 4 << 20
/** Depth of an output. It is above the depth of a body, because the canonical form wraps it. */
export const MAX_DEPTH = 256
/** Members and elements of an output, because each costs the gateway time to read. */
export const MAX_VALUES = 100_000
/** Bytes of all variables that a guest stores at the host. */
export const MAX_VAR_BYTES = 1 << 20
/** Log lines of one call; further ones are dropped. */
export const MAX_LOG_LINES = 16
/** Bytes of a log line. */
export const MAX_LOG_BYTES = 1024
/** Calls that wait for one worker. */
export const MAX_QUEUE = 256

/** ms of the guest's own time. */
export interface Timeouts {
  init: number
  request: number
  response: number
  chunk: number
  /** Maximum wait of a call for its turn. */
  queue: number
}

export const TIMEOUTS: Timeouts = { init: 1000, request: 50, response: 50, chunk: 10, queue: 1000 }
