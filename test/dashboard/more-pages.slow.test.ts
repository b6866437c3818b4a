// The other half of the pages in a real browser.
import { everyPage, SECOND_HALF } from './every-page.ts'

everyPage(SECOND_HALF)
