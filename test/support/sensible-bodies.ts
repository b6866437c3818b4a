// Bodies of the control plane for tests that derive calls from the OpenAPI document.
import { DRAFTS } from './operation-bodies.ts'

/** Values that a schema cannot know, by operation; they override generated ones. */
export const SENSIBLE: Readonly<Record<string, object>> = {
  'POST /api/import': {
    document: { hookgate_export: 1, version: '0.1.0', created_at: '2026-01-01', rows: {}, secrets: null, skipped: [] },
    passphrase: null,
  },
  'POST /api/providers': { provider: 'echo' },
  'PUT /api/settings': {},
  ...DRAFTS,
  'PUT /api/virtual-models/{id}': {},
  'POST /api/virtual-models/reorder': { ids: [] },
  'POST /api/proxy-pools': { proxy_url: 'http://127.0.0.1:9', no_proxy: '' },
  'PUT /api/proxy-pools/{id}': { proxy_url: 'http://127.0.0.1:9', no_proxy: '' },
  'POST /api/proxy-pools/assign': { proxy_id: null, connection_id: 1 },
  'POST /api/quota/refresh': {},
  'POST /api/policy/reset-verdicts': {},
  'POST /api/budgets': { scope: 'org', entity_id: null, entity_label: null, window: 'daily', hard_limit_usd: 1000 },
  'PUT /api/budgets/{id}': { window: 'daily', hard_limit_usd: 1000 },
  'POST /api/budgets/{id}/increase': { amount_usd: 1, expires_at: new Date(Date.now() + 86_400_000).toISOString() },
  'POST /api/audit/export/ack': { seq: 0 },
  'POST /api/mail/test': { to: 'somebody@example.com' },
  'PUT /api/pricing/overrides': { data: [] },
  'POST /api/webhooks/endpoints': { url: 'https://hooks.example.com/in' },
}
