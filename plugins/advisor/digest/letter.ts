// The digest as a letter: the same figures as the event. The mail's template makes text and escaped HTML of it, without remote content.
import type { Digest } from './digest.ts'

export interface DigestLetter {
  readonly subject: string
  readonly heading: string
  readonly paragraphs: readonly string[]
}

/** @param zone the time zone of the week. */
export function letterOf(digest: Digest, zone: string): DigestLetter {
  const { week, periodStart, periodEnd, requests, costUsd, usdSaved, tokensSaved, opportunities, headline } = digest
  return {
    subject: headline,
    heading: `Week ${week}`,
    paragraphs: [
      `From ${dayOf(periodStart, zone)} to ${dayOf(new Date(Date.parse(periodEnd) - 1).toISOString(), zone)} (${zone}).`,
      `${requests} requests cost ${costUsd.toFixed(2)} USD. ${usdSaved.toFixed(2)} USD and ${tokensSaved} tokens were saved.`,
      ...opportunities.map(({ title, estMonthlyUsd, confidence, applyAction, applyHint }) => {
        const worth = estMonthlyUsd > 0 ? `about ${estMonthlyUsd.toFixed(2)} USD a month, ` : ''
        const how = applyAction === null ? applyHint : 'The advisor can apply it.'
        return `${title}: ${worth}confidence ${Math.round(confidence * 100)} %. ${how}`
      }),
    ],
  }
}

function dayOf(instant: string, zone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date(instant))
}
