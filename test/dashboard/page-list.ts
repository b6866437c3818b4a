// The pages of the dashboard and their states that have an address.

export type NamedPath = readonly [name: string, path: string]

/** Groups what is below the same entry of the menu: a test walks over a group in one context. */
export function byArea(pages: readonly NamedPath[]): [area: string, pages: NamedPath[]][] {
  const found = new Map<string, NamedPath[]>()
  for (const page of pages) {
    const area = new URL(page[1], 'http://any').pathname.split('/')[1] || 'overview'
    found.set(area, [...(found.get(area) ?? []), page])
  }
  return [...found]
}

export const PAGES: readonly NamedPath[] = [
  ['overview', '/'],
  ['requests', '/requests'],
  ['playground', '/playground'],
  ['routing', '/routing'],
  ['a virtual model', '/routing/coder'],
  ['a new virtual model', '/routing/+new'],
  ['a virtual model as text', '/routing/coder?as=text'],
  ['connections', '/connections'],
  ['a connection', '/connections?open=5'],
  ['the providers', '/connections?tab=registry'],
  ['accounts', '/connections?tab=sign-ins'],
  ['a new connection', '/connections?add=openai'],
  ['spend', '/spend'],
  ['budgets', '/spend?tab=budgets&open=1'],
  ['reports', '/spend?tab=reports'],
  ['savings', '/spend?tab=savings'],
  ['the advisor', '/spend?tab=advisor'],
  ['the digest', '/spend?tab=advisor&week=2026-W46'],
  ['prices', '/spend?tab=prices&set=new'],
  ['keys', '/keys?open=1'],
  ['a new key', '/keys?add=1'],
  ['webhooks', '/webhooks'],
  ['a new endpoint', '/webhooks?add=1'],
  ['deliveries', '/webhooks?tab=deliveries'],
  ['webhook events', '/webhooks?tab=events&open=budget.crossed'],
  ['a signature', '/webhooks?tab=signature'],
  ['system', '/system'],
  ['the pipeline', '/system?tab=pipeline&plugin=guardrails'],
  ['settings', '/system?tab=settings'],
  ['the audit log', '/system?tab=audit'],
  ['stored responses', '/system?tab=responses'],
  ['tunnels', '/system?tab=tunnel'],
  ['interception', '/system?tab=interception'],
  ['an unknown page', '/no/such/page'],
]
