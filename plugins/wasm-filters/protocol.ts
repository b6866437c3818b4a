// Messages between gateway and worker. Only types and two numbers, because the worker loads this file too.
import type { GuestReply } from './guest.ts'

export interface WorkerInit {
  readonly wasm: Uint8Array<ArrayBuffer>
  readonly config: Readonly<Record<string, string>>
  readonly progress: Progress
}

/** A message to a worker; one at a time. */
export interface CallMessage {
  readonly name: string
  readonly input: string
  /** Epoch ms. */
  readonly now: number
}

/** A message from a worker: one when it has loaded or refused the module, then one for each call. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly exports: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string }
  | ({ readonly kind: 'reply' /** ms of the guest's time. */; readonly ms: number } & GuestReply)

/**
 * Shared memory with one number: the time at which the guest was entered, in ms of `sharedTime`; 0 while it is not running. A message
 * would be too late, because the event loop that reads it may be delayed.
 */
export type Progress = Float64Array<SharedArrayBuffer>

export function createProgress(): Progress {
  return new Float64Array(new SharedArrayBuffer(8))
}

/** Monotonic ms, the same in all threads. */
export function sharedTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
