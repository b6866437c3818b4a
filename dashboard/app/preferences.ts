// Preferences stored in this browser: theme, density, time zone, the length of the menu, columns. The page stores nothing else.
import { signal } from '@preact/signals'

export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  density: 'normal' | 'roomy'
  zone: 'local' | 'utc'
  /** `auto`: the short menu on a local gateway until a second key exists. */
  menu: 'auto' | 'short' | 'full'
  /** Columns of the request list, by comma; '': the usual ones. */
  columns: string
}

const KEY = 'preferences'
const DEFAULTS: Preferences = { theme: 'system', density: 'normal', zone: 'local', menu: 'auto', columns: '' }
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  theme: ['system', 'light', 'dark'],
  density: ['normal', 'roomy'],
  zone: ['local', 'utc'],
  menu: ['auto', 'short', 'full'],
}
const MAX_COLUMNS_TEXT = 200

export const preferences = signal<Preferences>(read())

export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes }
  localStorage.setItem(KEY, JSON.stringify(preferences.value))
}

preferences.subscribe(({ theme, density }) => {
  const root = document.documentElement
  root.dataset.theme = theme
  root.dataset.density = density
})

/** Values that this version does not know are left out: an older version, or a hand, may have written them. */
function read(): Preferences {
  const found: Record<string, string> = { ...DEFAULTS }
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>
    for (const [name, choices] of Object.entries(CHOICES)) {
      const value = stored[name]
      if (typeof value === 'string' && choices.includes(value)) found[name] = value
    }
    if (typeof stored.columns === 'string') found.columns = stored.columns.slice(0, MAX_COLUMNS_TEXT)
  } catch {
    // Nothing readable is stored.
  }
  return found as unknown as Preferences
}
