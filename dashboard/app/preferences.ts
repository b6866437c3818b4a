// Preferences stored in this browser: theme, density, time zone. The page stores nothing else.
import { signal } from '@preact/signals'

export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  density: 'normal' | 'roomy'
  zone: 'local' | 'utc'
}

const KEY = 'preferences'
const DEFAULTS: Preferences = { theme: 'system', density: 'normal', zone: 'local' }

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

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) }
  } catch {
    return DEFAULTS
  }
}
