import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Loaded } from '../api/query.ts'
import { setQuery } from '../app/location.ts'
import { Ago } from './text.tsx'

interface PageProps {
  title: string
  /** Buttons beside the title. */
  actions?: ComponentChildren
  children: ComponentChildren
}

export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · hookgate`
  }, [title])
  return (
    <main id="main" class="page" tabIndex={-1}>
      <header class="page-head">
        <h1>{title}</h1>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </main>
  )
}

export function Panel({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </section>
  )
}

/** Details of one row beside the list. Escape closes it. */
export function Peek({
  title,
  actions,
  onClose,
  children,
}: {
  title: string
  actions?: ComponentChildren
  onClose: () => void
  children: ComponentChildren
}) {
  const peek = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const element = peek.current
    const opener = document.activeElement
    // Gives the focus back to the row, or to the page where the row is gone.
    return () => {
      if (!element?.contains(document.activeElement)) return
      const next = opener instanceof HTMLElement && opener !== document.body && opener.isConnected ? opener : null
      ;(next ?? document.getElementById('main'))?.focus()
    }
  }, [])
  return (
    <aside
      ref={peek}
      class="peek"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <header>
        <h2>{title}</h2>
        <div class="actions">
          {actions}
          <button type="button" class="button plain" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        </div>
      </header>
      <div class="peek-body">{children}</div>
    </aside>
  )
}

export interface Tab {
  id: string
  title: string
}

/** Tabs whose choice is in the address, as `?tab=`. */
export function Tabs({ tabs, current, name = 'tab' }: { tabs: readonly Tab[]; current: string; name?: string }) {
  const list = useRef<HTMLDivElement>(null)
  // On narrow screens the list of tabs scrolls: the chosen one is in view.
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  return (
    <div ref={list} class="tabs" role="tablist">
      {tabs.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === current}
          onClick={() => setQuery({ [name]: id === tabs[0]?.id ? null : id })}
        >
          {title}
        </button>
      ))}
    </div>
  )
}

export function Notice({ tone = 'info', children }: { tone?: 'info' | 'warning' | 'error'; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'error' ? 'alert' : 'note'}>
      {children}
    </div>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

/** Shows data once it is there. Old data stays while new data loads or fails, with its age. */
export function Loading<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  if (of.data === undefined) {
    if (of.error !== null) return <Notice tone="error">{of.error.message}</Notice>
    return <div class="skeleton" aria-hidden="true" />
  }
  return (
    <>
      {of.error !== null && (
        <Notice tone="warning">
          {of.error.message} This is of <Ago at={of.at} />.
        </Notice>
      )}
      {children(of.data)}
    </>
  )
}

/** Pairs of term and value. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
