// One cell of a CSV file (RFC 4180) with untrusted text.

/** Quoted where it must be; what a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvText(given: string): string {
  const text = /^[=+\-@\t\r]/.test(given) ? `'${given}` : given
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
