// One tab reads for all tabs of this browser. The reader holds a lock; the next tab gets the lock when the reader leaves or is closed.

export interface TabsOptions<M> {
  /** Tabs with the same name share. */
  readonly name: string
  /** Runs in the tab that reads, until the signal. */
  read(tell: (message: M) => void, signal: AbortSignal): Promise<void>
  /** Called in every tab for each message. */
  receive(message: M): void
  /** Returns the message that the reader sends to a new tab; null: it sends none. */
  greeting(): M | null
}

export interface Tabs {
  leave(): void
}

type Envelope<M> = { messages: readonly M[] } | { hello: true }

/** Each post costs the reading tab more than the event itself, so the messages of this time go in one. */
const TOGETHER_MS = 50

export function joinTabs<M>({ name, read, receive, greeting }: TabsOptions<M>): Tabs {
  const left = new AbortController()
  // Browsers give locks to https and localhost only. Elsewhere each tab reads for itself.
  if (navigator.locks === undefined) {
    void read((message) => left.signal.aborted || receive(message), left.signal)
    return { leave: () => left.abort() }
  }
  const channel = new BroadcastChannel(name)
  let reading = false
  const post = (envelope: Envelope<M>): void => channel.postMessage(envelope)
  let untold: M[] = []
  let telling: ReturnType<typeof setTimeout> | undefined
  const tellOthers = (): void => {
    clearTimeout(telling)
    telling = undefined
    if (untold.length > 0) post({ messages: untold })
    untold = []
  }
  const tell = (message: M): void => {
    if (left.signal.aborted) return
    untold.push(message)
    telling ??= setTimeout(tellOthers, TOGETHER_MS)
    receive(message)
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Envelope<M>>) => {
    if ('messages' in data) return data.messages.forEach(receive)
    const message = reading ? greeting() : null
    if (message === null) return
    // All tabs get the greeting, and it must not overtake what waits for them.
    tellOthers()
    post({ messages: [message] })
  })
  const hold = (): Promise<void> => {
    reading = true
    return read(tell, left.signal)
  }
  void navigator.locks.request(name, { signal: left.signal }, hold).catch(() => {})
  post({ hello: true })
  return {
    leave() {
      left.abort()
      tellOthers()
      channel.close()
    },
  }
}
