// Types of the processes that serve one address together, as core and plugins see them.

/** A name that one process holds at a time. `held` false: another process has it, and `ended` resolves when it gives it up. */
export type Claim =
  | { readonly held: true; end(outcome: string): void }
  /** The outcome that the holder gave; `left` when its process ended. */
  | { readonly held: false; readonly ended: Promise<string> }

/** Events of all processes in one order, the same in each of them. */
export interface Feed {
  /** False while no process has listeners. Events that are published then are dropped. */
  readonly wanted: boolean
  /** @param data JSON values only. The event comes back to every process, this one included, with its number. */
  publish(channel: number, data: unknown): void
  /** Makes every process publish for the next hour. Returns the number of the channel's next event. */
  want(channel: number): Promise<number>
}

export type FeedTaker = (channel: number, number: number, data: unknown) => void

/** The processes that serve one address together, this one included. */
export interface Siblings {
  /** The place of this process, from 1. A process that replaces a dead one takes its place. */
  readonly place: number
  /** Number of places. */
  readonly count: number
  /** True in one of the processes: jobs that must not run twice run there. */
  readonly leads: boolean
  /** Sends JSON data to all other processes. A process that starts later does not get it. */
  tell(topic: string, data: unknown): void
  /** Returns the function that ends this. */
  on(topic: string, fn: (data: unknown) => void): () => void
  /** Returns the answers of all processes, this one's first, without those that did not answer in time. Never rejects. */
  ask(topic: string, question?: unknown): Promise<readonly unknown[]>
  /** Answers `ask` with JSON data, null for none; one function per topic. Returns the function that ends this. */
  answer(topic: string, fn: (question: unknown) => unknown): () => void
  /** Waits for the answer of the authority, not for the holder. */
  claim(name: string): Promise<Claim>
  /** Follows a feed; a later call with the same name replaces `take`. */
  feed(name: string, take: FeedTaker): Feed
}
