// Find or do: names, ids and settings, and after `>` actions.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../../ui/dialog.tsx'
import { go } from '../location.ts'
import type { Hit } from './palette-actions.ts'
import { useHits } from './palette-hits.ts'

export const paletteOpen = signal(false)

export function Palette() {
  return paletteOpen.value ? <OpenPalette /> : null
}

function OpenPalette() {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [said, setSaid] = useState<string | null>(null)
  const { hits, loading } = useHits(text)
  /** Enter was pressed before the names had arrived. */
  const [opensFirst, setOpensFirst] = useState(false)
  const close = (): void => {
    paletteOpen.value = false
  }
  const open = async (hit: Hit | undefined): Promise<void> => {
    if (hit === undefined) return
    if (hit.run === undefined) {
      close()
      if (hit.to !== undefined) go(hit.to)
      return
    }
    const answer: unknown = hit.run()
    if (!(answer instanceof Promise)) return close()
    setSaid(`${hit.title} …`)
    setSaid(String(await answer.catch((error: unknown) => (error instanceof Error ? error.message : error))))
  }
  useEffect(() => {
    if (opensFirst && hits.length > 0) void open(hits[0])
    else if (opensFirst && !loading) setOpensFirst(false)
  }, [opensFirst, hits, loading])
  return (
    <Dialog title="Find or do" onClose={close}>
      <input
        type="search"
        class="palette-input"
        aria-label="Find or do"
        aria-controls="palette-hits"
        placeholder="a name, an id, a setting, or > for actions"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
          setSaid(null)
          setOpensFirst(false)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step !== 0) {
            event.preventDefault()
            setAt(Math.max(0, Math.min(hits.length - 1, at + step)))
          }
          if (event.key !== 'Enter') return
          if (hits.length === 0 && loading) setOpensFirst(true)
          else void open(hits[at])
        }}
      />
      <p role="status" class="palette-said">
        {said}
      </p>
      <ul id="palette-hits" class="palette-hits">
        {hits.map((hit, index) => (
          <li key={hit.id}>
            <button type="button" class={index === at ? 'current' : ''} onClick={() => open(hit)}>
              <span class="clip">{hit.title}</span> <span class="quiet">{hit.kind}</span>
            </button>
          </li>
        ))}
        {hits.length === 0 && <li class="quiet">{loading ? 'Loading names…' : 'Nothing has this name.'}</li>}
      </ul>
    </Dialog>
  )
}
