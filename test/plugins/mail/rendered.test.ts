// Texts of letters: what strangers put into names stays text.
import { describe, expect, it } from 'vitest'
import { rendered } from '../../../plugins/mail/rendered.ts'
import { LETTER } from './support.ts'

const HOSTILE = 'Eve\r\nBcc: all@example.com\u202etxt\u200b<img src=x onerror=alert(1)>"\'&\ud800 http://evil.example/x'

describe('a letter', () => {
  const { subject, text, html } = rendered(
    {
      ...LETTER,
      subject: HOSTILE,
      heading: HOSTILE,
      paragraphs: [HOSTILE, 'Grüße, 你好 👋'],
      action: { label: HOSTILE, path: '/x' },
    },
    'https://llm.example.com/x?a=1&b="2"',
  )

  it('has a subject of one line without unseen characters', () => {
    expect(subject).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    expect(subject.startsWith('Eve Bcc: all@example.com txt <img')).toBe(true)
    expect([...rendered({ ...LETTER, subject: '👋'.repeat(500) }, null).subject]).toHaveLength(200)
  })

  it('has no markup and no link of a stranger', () => {
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;')
    expect(html).toContain('href="https://llm.example.com/x?a=1&amp;b=&quot;2&quot;"')
    expect([...html.matchAll(/href=/g)]).toHaveLength(1)
    expect(text + html).not.toContain('http://evil')
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
  })

  it('keeps every script', () => {
    for (const form of [text, html]) expect(form).toContain('Grüße, 你好 👋')
  })

  it('without an action has no button', () => {
    const { action: _, ...plain } = LETTER
    expect(rendered(plain, null).html).not.toContain('href')
  })
})
