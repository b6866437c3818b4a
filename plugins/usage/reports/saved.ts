// Adds savings to sums of usage on the same requests, some groups at a time.
import type { Savings, UsageFilter, UsageGroup, UsageReader, UsageSum } from '../ledger.ts'

/** Maximum groups per call of the savings ledger. */
const GROUPS_AT_ONCE = 2000

/** Without a savings ledger all savings are 0. At most one page of groups is in memory. */
export async function* withSavings(
  usage: UsageReader,
  savings: Savings,
  filter: UsageFilter,
  by: readonly UsageGroup[],
): AsyncGenerator<UsageSum> {
  const { since, until, orgId } = filter
  const all = { since, until, ...(orgId === undefined ? {} : { orgId }) }
  const ledger = savings()
  let sums: Omit<UsageSum, 'savedNano'>[] = []
  const joined = async (): Promise<UsageSum[]> => {
    const saved = await ledger?.totalsOf(
      all,
      by,
      sums.map(({ stored }) => stored),
    )
    const page = sums.map((sum, index) => ({ ...sum, savedNano: saved?.[index] ?? 0 }))
    sums = []
    return page
  }
  for await (const sum of usage.sums(filter, by)) {
    sums.push(sum)
    if (sums.length === GROUPS_AT_ONCE) yield* await joined()
  }
  yield* await joined()
}
