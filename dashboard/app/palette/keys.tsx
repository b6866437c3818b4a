// The keyboard: one registry of bindings, from which the help is made too.
import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { copyText } from '../../ui/copy-text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { PAGES, pathOf } from '../frame/pages.ts'
import { go } from '../location.ts'
import { paletteOpen } from './palette.tsx'

interface Binding {
  readonly keys: string
  readonly what: string
  readonly run: () => void
}

const helpOpen = signal(false)
/** Bindings of the page that is open. */
const bindings = new Set<readonly Binding[]>()

const GLOBAL: readonly Binding[] = [
  { keys: '?', what: 'Show the keys', run: () => (helpOpen.value = true) },
  { keys: '/', what: 'Go to the filter', run: () => document.querySelector<HTMLInputElement>('[data-filter]')?.focus() },
  { keys: 'y', what: 'Copy a link to this view', run: () => void copyText(location.href) },
  ...PAGES.map((page) => ({ keys: `g ${page.key}`, what: `Go to ${page.title}`, run: () => go(pathOf(page)) })),
]

/** Adds bindings while a component is on the page. */
export function useKeys(own: readonly Binding[]): void {
  // Before the next key can arrive: a row that is on the screen is a row that its key opens.
  useLayoutEffect(() => {
    bindings.add(own)
    return () => void bindings.delete(own)
  })
}

const CHORD_MS = 1200
let chord: { key: string; at: number } | null = null

export function onKey(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault()
    paletteOpen.value = !paletteOpen.value
    return
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || activates(event)) return
  const prefix = chord !== null && Date.now() - chord.at < CHORD_MS ? `${chord.key} ` : ''
  const all = [...[...bindings].flat(), ...GLOBAL]
  const pressed = prefix + event.key
  const binding = all.find(({ keys }) => keys === pressed)
  chord = null
  if (binding !== undefined) {
    event.preventDefault()
    binding.run()
  } else if (prefix === '' && all.some(({ keys }) => keys.startsWith(`${event.key} `))) {
    chord = { key: event.key, at: Date.now() }
  }
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.closest('input, textarea, select, dialog[open]') !== null || target.isContentEditable)
  )
}

/** Space and Enter on a button or link belong to that element. */
function activates({ key, target }: KeyboardEvent): boolean {
  return (key === ' ' || key === 'Enter') && target instanceof Element && target.closest('button, a, summary') !== null
}

export function KeyHelp() {
  if (!helpOpen.value) return null
  return (
    <Dialog title="Keys" onClose={() => (helpOpen.value = false)}>
      <dl class="facts">
        {[{ keys: 'Ctrl K', what: 'Find or do' }, ...[...bindings].flat(), ...GLOBAL].map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
