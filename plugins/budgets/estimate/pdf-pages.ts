// Counts the pages of a PDF in its plain bytes. Page trees inside compressed streams are not read.

/** `%PDF-` in base64. */
const START = 'JVBERi0'
/** Objects of pages, but not of page trees (`/Pages`). */
const PAGE = /\/Type[\0\s]{0,8}\/Page(?![A-Za-z])/g
/** The pages below a node of the page tree; outlines have it, too. */
const COUNT = /\/Count[\0\s]{1,8}(\d{1,7})(?!\d)/g

/** Returns the larger one of the page objects and the counts that the file declares; 0 for another file. */
export function pdfPages(base64: string): number {
  if (!base64.startsWith(START)) return 0
  const text = decoded(base64)
  let pages = 0
  for (PAGE.lastIndex = 0; PAGE.test(text); ) pages++
  for (const [, count] of text.matchAll(COUNT)) pages = Math.max(pages, Number(count))
  return pages
}

/** One character for each byte. */
function decoded(base64: string): string {
  try {
    return atob(base64.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}
