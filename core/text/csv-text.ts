// Writes one cell of a CSV file (RFC 4180) from untrusted text.

/** Adds quotes where they are needed. A text that a spreadsheet would read as a formula gets an apostrophe in front. */
export function csvText(given: string): string {
  const text = /^[=+\-@\t\r]/.test(given) ? `'${given}` : given
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
