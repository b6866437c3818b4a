// The window of usage figures: the last hours or days.
import { query as address, setQuery } from '../app/location.ts'

const WINDOWS = ['24h', '7d', '30d'] as const

export function windowOf(): (typeof WINDOWS)[number] {
  return WINDOWS.find((one) => one === address.value.get('window')) ?? '24h'
}

export function WindowChoice() {
  const window = windowOf()
  return (
    <>
      {WINDOWS.map((one) => (
        <button
          key={one}
          type="button"
          class="button"
          aria-pressed={one === window}
          onClick={() => setQuery({ window: one === '24h' ? null : one })}
        >
          {one}
        </button>
      ))}
    </>
  )
}

/** The server's window in its own zone. */
export function WindowName({ of: { since, until } }: { of: { since: string; until: string } }) {
  const name = (at: string): string => at.slice(0, 16).replace('T', ' ')
  return (
    <span class="quiet">
      {name(since)} to {name(until)} UTC
    </span>
  )
}
