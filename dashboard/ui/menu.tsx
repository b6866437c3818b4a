// A button that opens a small panel below itself. A click outside and Escape close it.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface MenuProps {
  /** On the button. */
  title: ComponentChildren
  /** The button's name, where its title is a glyph. */
  label?: string
  /** The side of the button that the panel is aligned with. */
  side?: 'start' | 'end'
  plain?: boolean
  children: ComponentChildren
}

export function Menu({ title, label, side = 'end', plain = false, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  // A closed menu asks the server for nothing.
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    const close = (event: Event): void => {
      const { current } = menu
      if (current?.open !== true) return
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return
        if (current.contains(document.activeElement)) current.querySelector('summary')?.focus()
        event.stopPropagation()
      } else if (current.contains(event.target as Node)) {
        // A link inside closes the menu when it is followed, not when it is touched.
        if (event.type !== 'click' || (event.target as Element).closest('a') === null) return
      }
      current.open = false
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('click', close)
    document.addEventListener('keydown', close, true)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('click', close)
      document.removeEventListener('keydown', close, true)
    }
  }, [])
  return (
    <details class={`menu ${side}`} ref={menu} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary class={plain ? 'button plain' : 'button'} aria-label={label} title={label}>
        {title}
      </summary>
      {opened && <div class="menu-panel">{children}</div>}
    </details>
  )
}

/** One choice of a few, side by side. */
export function Segments<T extends string>({
  label,
  options,
  value,
  onPick,
}: {
  label: string
  options: readonly (readonly [value: T, title: string])[]
  value: T
  onPick: (value: T) => void
}) {
  return (
    <fieldset class="segments">
      <legend>{label}</legend>
      <div>
        {options.map(([option, title]) => (
          <button key={option} type="button" aria-pressed={option === value} onClick={() => onPick(option)}>
            {title}
          </button>
        ))}
      </div>
    </fieldset>
  )
}
