// unused_key and budget_at_risk.
import { DAY_MS, type Facts, IDLE_DAYS } from '../facts.ts'
import type { Finding } from '../service.ts'

export function unusedKeys(facts: Facts): Finding[] {
  const { busyKeys, keys, now } = facts
  if (busyKeys === null) return []
  return keys.flatMap(({ id, label, createdAt, expiresAt }) => {
    const isOld = createdAt <= now - IDLE_DAYS * DAY_MS && (expiresAt === null || expiresAt > now)
    if (!isOld || busyKeys.has(id)) return []
    return [
      {
        kind: 'unused_key' as const,
        subject: String(id),
        title: `Revoke the key \`${label}\``,
        detail: `Nothing was asked with it in ${IDLE_DAYS} days. A key that is not used can only be stolen.`,
        estMonthlyUsd: 0,
        confidence: 0.9,
        evidence: { key_id: id, label, created_at: new Date(createdAt).toISOString(), log_filter: `key:${label}` },
        applyAction: null,
        applyHint: `hookgate key revoke ${id}`,
      },
    ]
  })
}

export function budgetAtRisk({ spend }: Facts): Finding[] {
  if (spend === null || spend.projectedUsd <= spend.limitUsd) return []
  const { limitUsd, spentUsd, projectedUsd } = spend
  return [
    {
      kind: 'budget_at_risk',
      subject: 'month',
      title: `This month will cost ${projectedUsd.toFixed(2)} USD, and ${limitUsd.toFixed(2)} USD are planned`,
      detail: `${spentUsd.toFixed(2)} USD are spent. At the same pace the month ends at ${projectedUsd.toFixed(2)} USD.`,
      estMonthlyUsd: projectedUsd - limitUsd,
      confidence: 0.6,
      evidence: { limit_usd: limitUsd, spent_usd: spentUsd, projected_usd: projectedUsd },
      applyAction: null,
      applyHint: 'Set hard limits with budgets, or raise GATEWAY_MONTHLY_BUDGET_USD.',
    },
  ]
}
