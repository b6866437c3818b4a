// Small PDFs with a known number of pages.

/** Tokens of a page. */
export const PAGE = 3000
/** Files with their pages: objects of pages, or only the count of the page tree. */
export const FILES = new Map(
  [1, 7, 60, 500].flatMap((pages) => [
    [fileOf(Array.from({ length: pages }, () => '<< /Type /Page >>').join('\n')), pages] as const,
    [fileOf(`<< /Type/Pages /Kids [] /Count ${pages} >>`), pages] as const,
  ]),
)

export function fileOf(objects: string): string {
  return Buffer.from(`%PDF-1.4\n${objects}\n%%EOF`).toString('base64')
}

/** Returns the pages of the file that the text holds. */
export function pagesIn(text: string): number | undefined {
  return FILES.get(text.replace(/^data:application\/pdf;base64,/, ''))
}
