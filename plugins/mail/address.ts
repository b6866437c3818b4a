// Checks addresses of letters: one mailbox, without characters that would add a header or another recipient.

const MAX = 320
const MAILBOX = /^[^\s@<>()[\]\\,;:"\p{C}]+(?:@[^\s@<>()[\]\\,;:"\p{C}]+)+$/u
const SENDER = /^[^<>\p{Cc}\u2028\u2029]{0,200}<([^<>]+)>$/u

export function isMailbox(text: string): boolean {
  return text.length <= MAX && MAILBOX.test(text)
}

/** `a@example.com` or `Name <a@example.com>`. */
export function isSender(text: string): boolean {
  return isMailbox(SENDER.exec(text)?.[1] ?? text)
}

/** The part after the last `@`, which lists and logs may show. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}
