// The other half of the pages in a real browser.
import { everyPage, HALVES } from './every-page.ts'

for (const half of HALVES.slice(1)) everyPage(half)
