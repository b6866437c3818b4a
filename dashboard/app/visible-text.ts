// Shows control and direction characters of every text as escapes. Names, errors and bodies come from callers and upstreams, and a
// direction override could make one text look like another.
import { Fragment, options, type VNode } from 'preact'

const HIDDEN = /(?![\n\r\t])[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu

export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Applies to every text node of the page, so that no component can forget it. */
export function showHiddenCharacters(): void {
  const before = options.vnode
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === 'string' || vnode.type === Fragment) {
      const props = vnode.props as { children?: unknown; title?: unknown }
      props.children = visibleIn(props.children)
      if (typeof props.title === 'string') props.title = visible(props.title)
    }
    before?.(vnode)
  }
}

function visibleIn(children: unknown): unknown {
  if (typeof children === 'string') return visible(children)
  return Array.isArray(children) ? children.map(visibleIn) : children
}
