// Find or do: pages, request ids, keys, virtual models, connections. What is typed stays in the browser.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useGet } from '../api/query.ts'
import { Dialog } from '../ui/dialog.tsx'
import { go } from './location.ts'
import { PAGES, pathOf } from './pages.ts'

export const paletteOpen = signal(false)

interface Hit {
  readonly id: string
  readonly title: string
  readonly kind: string
  readonly to: string
}

const SHOWN = 12

export function Palette() {
  return paletteOpen.value ? <OpenPalette /> : null
}

function OpenPalette() {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { hits, loading } = useHits(text)
  /** Enter was pressed before the names had arrived. */
  const [opensFirst, setOpensFirst] = useState(false)
  const close = (): void => {
    paletteOpen.value = false
  }
  const open = (hit: Hit | undefined): void => {
    if (hit === undefined) return
    close()
    go(hit.to)
  }
  useEffect(() => {
    if (opensFirst && hits.length > 0) open(hits[0])
    else if (opensFirst && !loading) setOpensFirst(false)
  }, [opensFirst, hits, loading])
  return (
    <Dialog title="Find or do" onClose={close}>
      <input
        type="search"
        class="palette-input"
        aria-label="Find or do"
        aria-controls="palette-hits"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
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
          else open(hits[at])
        }}
      />
      <ul id="palette-hits" class="palette-hits">
        {hits.map((hit, index) => (
          <li key={hit.id}>
            <button type="button" class={index === at ? 'current' : ''} onClick={() => open(hit)}>
              <span>{hit.title}</span> <span class="quiet">{hit.kind}</span>
            </button>
          </li>
        ))}
        {hits.length === 0 && <li class="quiet">{loading ? 'Loading names…' : 'Nothing has this name.'}</li>}
      </ul>
    </Dialog>
  )
}

function useHits(text: string): { hits: readonly Hit[]; loading: boolean } {
  const models = useGet('/api/virtual-models')
  const keys = useGet('/api/keys')
  const connections = useGet('/api/providers')
  const wanted = text.trim().toLowerCase()
  if (/^req_[0-9a-f-]{36}$/.test(wanted))
    return { hits: [{ id: wanted, title: wanted, kind: 'Request', to: `/requests/${wanted}` }], loading: false }
  const all: Hit[] = [
    ...PAGES.map((page) => ({ id: `page ${page.id}`, title: page.title, kind: 'Page', to: pathOf(page) })),
    ...(models.data?.data ?? []).map(({ name }) => ({
      id: `vm ${name}`,
      title: name,
      kind: 'Virtual model',
      to: `/routing/${encodeURIComponent(name)}`,
    })),
    ...(keys.data?.data ?? []).map(({ id, label }) => ({ id: `key ${id}`, title: label, kind: 'Key', to: `/keys?open=${id}` })),
    ...(connections.data?.data ?? []).map(({ id, label, provider }) => ({
      id: `connection ${id}`,
      title: `${provider}/${label}`,
      kind: 'Connection',
      to: `/connections?open=${id}`,
    })),
  ]
  return {
    hits: all.filter(({ title }) => title.toLowerCase().includes(wanted)).slice(0, SHOWN),
    loading: [models, keys, connections].some(({ data, loading }) => data === undefined && loading),
  }
}
