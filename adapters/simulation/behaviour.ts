// Derives each account's behaviour over time from the lines of a script. The last line that names an account applies.
import type { SimulatedAccount } from './observer.ts'
import { type ScriptedAnswer, type UpstreamAnswer, WORKS } from './script.ts'

/** @param answers sorted by time. */
export function behaviourOf(answers: readonly ScriptedAnswer[]): (account: SimulatedAccount, at: number) => UpstreamAnswer {
  return (account, at) => answers.findLast((line) => line.at <= at && names(line, account))?.answer ?? WORKS
}

/** @throws Error for a line about an upstream that the configuration does not have. */
export function refuseUnknownUpstreams(answers: readonly ScriptedAnswer[], accounts: readonly SimulatedAccount[]): void {
  const stray = answers.find((line) => !accounts.some((account) => names(line, account)))
  if (stray === undefined) return
  const known = [...new Set(accounts.flatMap(({ name, provider }) => [name, provider]))].sort()
  throw new Error(
    `Line ${stray.line} of the script: the configuration has no upstream \`${stray.upstream}\`. There are ${known.join(', ')}.`,
  )
}

function names({ upstream }: ScriptedAnswer, { name, provider }: SimulatedAccount): boolean {
  return upstream === name || upstream === provider
}
