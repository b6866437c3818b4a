// Renders a letter as plain text and as HTML. Names in it come from strangers: they bring no markup, no line break and no direction.
import type { Letter } from './service.ts'

export interface Rendered {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const MAX_SUBJECT = 200
const MAX_PARAGRAPH = 2000
/** Control and format characters: line breaks, zero-width characters, bidirectional overrides; lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu

/** @param link the absolute address of the letter's button. */
export function rendered(letter: Letter, link: string | null): Rendered {
  const heading = oneLine(letter.heading, MAX_SUBJECT)
  const paragraphs = letter.paragraphs.map((text) => oneLine(text, MAX_PARAGRAPH))
  const action = letter.action === undefined || link === null ? null : { label: oneLine(letter.action.label, 100), link }
  return {
    subject: oneLine(letter.subject, MAX_SUBJECT),
    text: [heading, ...paragraphs, ...(action === null ? [] : [`${action.label}:\n${action.link}`])].join('\n\n').concat('\n'),
    html: page(heading, paragraphs, action),
  }
}

/** Mail programs make links of addresses in the text; the one link of a letter is its button. */
function oneLine(text: string, max: number): string {
  const line = text.replace(UNSEEN, ' ').replace(/:\/\//g, ': //').replace(/\s+/g, ' ').trim()
  const characters = [...line]
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : line
}

const FONT = 'font-family:system-ui,sans-serif;color:#1a1a1a'

function page(heading: string, paragraphs: readonly string[], action: { label: string; link: string } | null): string {
  const button =
    action === null
      ? ''
      : `<p><a href="${escaped(action.link)}" style="display:inline-block;padding:10px 18px;background:#1a1a1a;color:#ffffff;text-decoration:none;border-radius:6px">${escaped(action.label)}</a></p><p style="font-size:13px;word-break:break-all">${escaped(action.link)}</p>`
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(heading)}</title></head><body style="margin:0;padding:24px;background:#ffffff;${FONT}"><div style="max-width:560px;margin:0 auto"><h1 style="font-size:20px">${escaped(heading)}</h1>${paragraphs.map((text) => `<p dir="auto" style="line-height:1.5">${escaped(text)}</p>`).join('')}${button}</div></body></html>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
