// The migrations of the preset, without its plugins.
import type { MigratingPlugin } from '../../../core/db/migrate.ts'
import { migrations as advisor } from '../../../plugins/advisor/migrations.ts'
import { migrations as audit } from '../../../plugins/audit/migrations.ts'
import { migrations as batches } from '../../../plugins/batches/migrations.ts'
import { migrations as budgets } from '../../../plugins/budgets/migrations.ts'
import { migrations as connections } from '../../../plugins/connections/migrations.ts'
import { migrations as helicone } from '../../../plugins/helicone/request-ids.ts'
import { migrations as keys } from '../../../plugins/keys/migrations.ts'
import { migrations as ledger } from '../../../plugins/ledger/migrations.ts'
import { migrations as mail } from '../../../plugins/mail/migrations.ts'
import { migrations as oauthAccounts } from '../../../plugins/oauth-accounts/migrations.ts'
import { migrations as oidc } from '../../../plugins/oidc/migrations.ts'
import { migrations as organizations } from '../../../plugins/organizations/migrations.ts'
import { migrations as policy } from '../../../plugins/policy/migrations.ts'
import { migrations as pricing } from '../../../plugins/pricing/migrations.ts'
import { migrations as proxyPools } from '../../../plugins/proxy-pools/migrations.ts'
import { migrations as quota } from '../../../plugins/quota/migrations.ts'
import { migrations as reasoningReplay } from '../../../plugins/reasoning-replay/migrations.ts'
import { migrations as requestLog } from '../../../plugins/request-log/migrations.ts'
import { migrations as resilience } from '../../../plugins/resilience/migrations.ts'
import { migrations as responsesState } from '../../../plugins/responses-state/migrations.ts'
import { migrations as savings } from '../../../plugins/savings/migrations.ts'
import { migrations as settings } from '../../../plugins/settings/store.ts'
import { migrations as shadowEval } from '../../../plugins/shadow-eval/migrations.ts'
import { migrations as signIn } from '../../../plugins/sign-in/migrations.ts'
import { migrations as virtualModels } from '../../../plugins/virtual-models/migrations.ts'
import { migrations as webhooks } from '../../../plugins/webhooks/migrations.ts'

/** In the order of the preset. */
export const MIGRATIONS: readonly MigratingPlugin[] = [
  { name: 'settings', migrations: settings },
  { name: 'audit', migrations: audit },
  { name: 'sign-in', migrations: signIn },
  { name: 'mail', migrations: mail },
  { name: 'oidc', migrations: oidc },
  { name: 'keys', migrations: keys },
  { name: 'organizations', migrations: organizations },
  { name: 'connections', migrations: connections },
  { name: 'pricing', migrations: pricing },
  { name: 'policy', migrations: policy },
  { name: 'proxy-pools', migrations: proxyPools },
  { name: 'virtual-models', migrations: virtualModels },
  { name: 'helicone', migrations: helicone },
  { name: 'ledger', migrations: ledger },
  { name: 'budgets', migrations: budgets },
  { name: 'webhooks', migrations: webhooks },
  { name: 'request-log', migrations: requestLog },
  { name: 'savings', migrations: savings },
  { name: 'advisor', migrations: advisor },
  { name: 'shadow-eval', migrations: shadowEval },
  { name: 'resilience', migrations: resilience },
  { name: 'quota', migrations: quota },
  { name: 'oauth-accounts', migrations: oauthAccounts },
  { name: 'reasoning-replay', migrations: reasoningReplay },
  { name: 'responses-state', migrations: responsesState },
  { name: 'batches', migrations: batches },
]
