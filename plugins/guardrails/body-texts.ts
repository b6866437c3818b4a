// Collects every string of a body as sent, with names and numbers, for rules that block: everything that an upstream may read, in any
// spelling and place. The parts of one message are also joined.
import { base64Decode } from '../../core/text/bytes.ts'
import { TELLING } from './json-strings.ts'

export interface BodyTexts {
  readonly texts: readonly string[]
  readonly joined: readonly JoinedText[]
}

export interface JoinedText {
  readonly text: string
  readonly role: string | null
}

/** Zero-width characters, direction marks, variation selectors and other invisible characters. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu
/** Members that no reader of text can read: media, and values that a vendor signed or sealed. */
const SEALED = /^(?:data|file_data|image_url|url|uri|signature|thought_?signature|encrypted_content|bytes)$/i
const BASE64 = /^[\w+/=-]{64,}$/
const DATA_URL = /^data:([^,]{0,200}),/i
const LONG_NUMBER = /^-?\d{9,}$/

/** @throws SyntaxError when the text is not JSON. */
export function bodyTexts(json: string): BodyTexts {
  const texts = new Set<string>()
  const joined: JoinedText[] = []
  const add = (text: string, lead: string): void => {
    if (text !== '') texts.add(lead + text.replace(UNSEEN, ''))
  }
  walk(JSON.parse(json) as unknown, '', null, null)
  return { texts: [...texts], joined }

  // Recursion is limited by the depth of bodies, which the scan has checked.
  function walk(value: unknown, name: string, owner: Readonly<Record<string, unknown>> | null, role: string | null): void {
    if (typeof value === 'string') return said(value, name, owner)
    if (typeof value === 'number') return LONG_NUMBER.test(String(value)) ? add(String(value), '') : undefined
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      const parts = value.map(textOf).filter((text) => text !== null)
      if (parts.length > 1) joined.push({ text: parts.join('').replace(UNSEEN, ''), role })
      for (const item of value) walk(item, name, owner, role)
      return
    }
    const members = value as Record<string, unknown>
    const speaker = typeof members.role === 'string' ? members.role : role
    for (const member of Object.keys(members)) {
      add(member, '')
      walk(members[member], member, members, speaker)
    }
  }

  function said(text: string, name: string, owner: Readonly<Record<string, unknown>> | null): void {
    const type = DATA_URL.exec(text)?.[1] ?? mediaType(owner)
    const behind = text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text
    const sealed = text.startsWith('data:') || (SEALED.test(name) && BASE64.test(behind))
    if (type !== null && /^(?:text\/|application\/(?:json|xml))/i.test(type)) add(base64Decode(behind) ?? '', '')
    if (!sealed) add(text, TELLING.test(name) ? `${name.slice(-40)}=` : '')
  }
}

function textOf(part: unknown): string | null {
  const text = typeof part === 'object' && part !== null ? (part as Record<string, unknown>).text : undefined
  return typeof text === 'string' ? text : null
}

function mediaType(owner: Readonly<Record<string, unknown>> | null): string | null {
  const type = owner?.media_type ?? owner?.mimeType ?? owner?.mime_type
  return typeof type === 'string' ? type : null
}
