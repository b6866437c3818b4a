// Messages between gateway and worker. Types and two numbers only, because the worker loads this file too.
import type { GuestReply } from './guest.ts'

export interface WorkerInit {
  readonly wasm: Uint8Array<ArrayBuffer>
  readonly config: Readonly<Record<string, string>>
  readonly progress: Progress
}

/** To a worker; one at a time. */
export interface CallMessage {
  readonly name: string
  readonly input: string
  /** Epoch ms. */
  readonly now: number
}

/** From a worker: once when it has loaded or refused the module, then one for each call. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly exports: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string }
  | ({ readonly kind: 'reply' /** ms of the guest. */; readonly ms: number } & GuestReply)

/**
 * Shared memory of one number: when the guest was entered, in ms of `sharedTime`; 0 while it is not running. A message says
 * so too late: the loop that would read it may be behind.
 */
export type Progress = Float64Array<SharedArrayBuffer>

export function createProgress(): Progress {
  return new Float64Array(new SharedArrayBuffer(8))
}

/** Monotonic ms that all threads agree about. */
export function sharedTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
