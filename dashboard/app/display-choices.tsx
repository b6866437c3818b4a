// How this browser shows things: time zone, theme, density, length of the menu.
import { Segments } from '../ui/menu.tsx'
import { zoneName } from './clock.ts'
import { prefer, preferences } from './preferences.ts'

const THEMES = { system: 'light', light: 'dark', dark: 'system' } as const
const THEME_GLYPHS = { system: '◐', light: '☀', dark: '☾' } as const

/** The choices of a menu. */
export function DisplayChoices() {
  const { theme, zone, density, menu } = preferences.value
  return (
    <>
      <Segments
        label="Times"
        options={[
          ['local', 'Local'],
          ['utc', 'UTC'],
        ]}
        value={zone}
        onPick={(zone) => prefer({ zone })}
      />
      <Segments
        label="Colours"
        options={[
          ['system', 'System'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
        value={theme}
        onPick={(theme) => prefer({ theme })}
      />
      <Segments
        label="Rows"
        options={[
          ['normal', 'Dense'],
          ['roomy', 'Roomy'],
        ]}
        value={density}
        onPick={(density) => prefer({ density })}
      />
      <Segments
        label="Pages"
        options={[
          ['auto', 'Auto'],
          ['short', 'Essential'],
          ['full', 'All'],
        ]}
        value={menu}
        onPick={(menu) => prefer({ menu })}
      />
    </>
  )
}

export function nextTheme(): void {
  prefer({ theme: THEMES[preferences.value.theme] })
}

export function nextZone(): void {
  prefer({ zone: preferences.value.zone === 'utc' ? 'local' : 'utc' })
}

export function nextDensity(): void {
  prefer({ density: preferences.value.density === 'roomy' ? 'normal' : 'roomy' })
}

/** The same one click away, on wide screens. */
export function QuickChoices() {
  const { theme, density } = preferences.value
  return (
    <span class="quick">
      <button type="button" class="button plain" title="Time zone of all times on this page" onClick={nextZone}>
        {zoneName()}
      </button>
      <button
        type="button"
        class="button plain"
        aria-label={`Rows: ${density}`}
        title={`Rows: ${density === 'roomy' ? 'roomy' : 'dense'}`}
        onClick={nextDensity}
      >
        {density === 'roomy' ? '☰' : '≣'}
      </button>
      <button type="button" class="button plain" aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`} onClick={nextTheme}>
        {THEME_GLYPHS[theme]}
      </button>
    </span>
  )
}
