// Names for the types of the service `ledger`.
import type { Services } from '../../core/types/plugin/plugin.ts'

export type UsageReader = Services['ledger']['usage']
export type UsageFilter = Parameters<UsageReader['newest']>[0]
export type UsageRow = Parameters<Parameters<UsageReader['newest']>[2]>[0]
export type UsageTokens = UsageRow['tokens']
export type UsageGroup = Parameters<UsageReader['sums']>[1][number]
type LedgerSum = ReturnType<UsageReader['sums']> extends AsyncIterable<infer Sum> ? Sum : never
/** Sums of a report group, with its savings in nano-USD. */
export type UsageSum = LedgerSum & { readonly savedNano: number }
export type Savings = () => Services['savings'] | undefined
