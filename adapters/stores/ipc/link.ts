// A process's connection to the authority that it shares its state with. Without the authority nothing is shared any more, so its loss
// ends the process. patience.ts limits the time of calls that requests wait for.
import type { Duplex } from 'node:stream'
import { storageUnavailable } from '../../../core/db/storage-fault.ts'
import type { Claim, FeedTaker, Siblings } from '../../../core/types/ports/siblings.ts'
import { type Message, wire } from './wire.ts'

export interface Link {
  readonly siblings: Siblings
  /** Resolves to the authority's answer. Rejects when the authority is gone. */
  call<T>(verb: string, ...args: readonly unknown[]): Promise<T>
  /** Sends without an answer. */
  send(...message: Message): void
  close(): void
}

export interface LinkOptions {
  readonly socket: Duplex
  readonly place: number
  readonly count: number
  /** The authority is gone. */
  lost(): void
}

interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

export function openLink({ socket, place, count, lost }: LinkOptions): Link {
  const calls = new Map<number, Waiting>()
  const listeners = new Map<string, Set<(data: unknown) => void>>()
  const answers = new Map<string, (question: unknown) => unknown>()
  const takers = new Map<string, FeedTaker>()
  const wanted = new Set<string>()
  const claims = new Map<number, (outcome: string) => void>()
  let leads = false
  let over = false
  let ids = 0

  const line = wire(socket, take, () => {
    if (over) return
    over = true
    for (const { reject } of calls.values()) reject(storageUnavailable('the shared state of the workers is gone.'))
    calls.clear()
    lost()
  })

  function take([kind, ...rest]: Message): void {
    const [first, second, third, fourth] = rest as [never, never, never, never]
    switch (kind) {
      case 'reply':
        calls.get(first)?.resolve(second)
        return void calls.delete(first)
      case 'told':
        for (const fn of listeners.get(first) ?? []) fn(second)
        return
      case 'asked':
        return void answered(first, second, third)
      case 'event':
        return takers.get(first)?.(second, third, fourth)
      case 'wanted':
        if (second) wanted.add(first)
        else wanted.delete(first)
        return
      case 'ended':
        claims.get(first)?.(second)
        return void claims.delete(first)
      case 'leads':
        leads = first
    }
  }

  async function answered(id: number, topic: string, question: unknown): Promise<void> {
    line.send(['answer', id, await ownAnswer(topic, question)])
  }
  const ownAnswer = async (topic: string, question: unknown): Promise<unknown> => {
    try {
      return (await answers.get(topic)?.(question)) ?? null
    } catch {
      return null
    }
  }

  const call = <T>(verb: string, ...args: readonly unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (over) return reject(storageUnavailable('the shared state of the workers is gone.'))
      const id = ++ids
      calls.set(id, { resolve, reject })
      line.send(['call', id, verb, ...args])
    })

  async function claim(name: string): Promise<Claim> {
    const id = ++ids
    const ended = new Promise<string>((resolve) => claims.set(id, resolve))
    if (!(await call<boolean>('claim', name, id))) return { held: false, ended }
    claims.delete(id)
    let open = true
    return {
      held: true,
      end(outcome) {
        if (open) line.send(['end', name, outcome])
        open = false
      },
    }
  }

  const siblings: Siblings = {
    place,
    count,
    get leads() {
      return leads
    },
    tell: (topic, data) => line.send(['tell', topic, data]),
    on(topic, fn) {
      const fns = listeners.get(topic) ?? new Set()
      listeners.set(topic, fns)
      fns.add(fn)
      return () => void fns.delete(fn)
    },
    ask: async (topic, question = null) => {
      const own = await ownAnswer(topic, question)
      const others = await call<unknown[]>('ask', topic, own, question).catch(() => [])
      return own === null ? others : [own, ...others]
    },
    answer(topic, fn) {
      answers.set(topic, fn)
      return () => {
        if (answers.get(topic) === fn) answers.delete(topic)
      }
    },
    claim,
    feed(name, taker) {
      takers.set(name, taker)
      return {
        get wanted() {
          return wanted.has(name)
        },
        publish: (channel, data) => line.send(['publish', name, channel, data]),
        want: (channel) => call('want', name, channel),
      }
    },
  }
  return {
    siblings,
    call,
    send: (...message) => line.send(message),
    close() {
      over = true
      line.close()
    },
  }
}
