// The window of usage figures: the last hour, day or days.
import { query as address, setQuery } from '../app/location.ts'

const WINDOWS = ['1h', '24h', '7d', '30d'] as const

/** How far back the same window is that figures are compared with. */
export const WINDOW_DAYS: Record<(typeof WINDOWS)[number], number> = { '1h': 1, '24h': 1, '7d': 7, '30d': 30 }

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
