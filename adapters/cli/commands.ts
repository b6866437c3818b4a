// Lists every command with its module. A module is loaded only when its command runs, because most commands need a small part of the
// gateway.
import type { CommandDef } from 'citty'

export type Load = () => Promise<CommandDef>
export interface Group {
  readonly about: string
  /** The action without a subcommand. */
  readonly alone?: Load
  readonly commands: Readonly<Record<string, Load>>
}

export const COMMANDS: Readonly<Record<string, Load | Group>> = {
  serve: () => import('./serve/serve.ts').then((module) => module.serveCommand),
  dev: () => import('./dev/dev.ts').then((module) => module.devCommand),
  init: () => import('./init/init.ts').then((module) => module.init),
  key: {
    about: 'Client keys, for callers of /v1.',
    commands: {
      create: () => import('./resources/key.ts').then((module) => module.create),
      list: () => import('./resources/key.ts').then((module) => module.listKeys),
      revoke: () => import('./resources/key.ts').then((module) => module.revoke),
      rotate: () => import('./resources/key.ts').then((module) => module.rotate),
    },
  },
  token: {
    about: 'Management tokens, for callers of /api.',
    commands: {
      create: () => import('./resources/token.ts').then((module) => module.create),
      list: () => import('./resources/token.ts').then((module) => module.listTokens),
      revoke: () => import('./resources/token.ts').then((module) => module.revoke),
    },
  },
  org: {
    about: 'Organizations of a gateway with tenants.',
    commands: {
      list: () => import('./resources/org.ts').then((module) => module.listOrganizations),
      create: () => import('./resources/org.ts').then((module) => module.create),
      suspend: () => import('./resources/org.ts').then((module) => module.suspend),
      resume: () => import('./resources/org.ts').then((module) => module.resume),
      delete: () => import('./resources/org.ts').then((module) => module.remove),
    },
  },
  user: {
    about: 'Accounts of a gateway with tenants.',
    commands: {
      list: () => import('./resources/user.ts').then((module) => module.listUsers),
      create: () => import('./resources/user.ts').then((module) => module.create),
      disable: () => import('./resources/user.ts').then((module) => module.disable),
      enable: () => import('./resources/user.ts').then((module) => module.enable),
      role: () => import('./resources/user.ts').then((module) => module.role),
    },
  },
  signup: () => import('./resources/user.ts').then((module) => module.signup),
  responses: {
    about: 'Stored responses and conversations.',
    commands: {
      list: () => import('./resources/responses.ts').then((module) => module.listResponses),
      show: () => import('./resources/responses.ts').then((module) => module.showResponse),
      export: () => import('./resources/responses.ts').then((module) => module.exportResponses),
      rm: () => import('./resources/responses.ts').then((module) => module.removeResponses),
    },
  },
  provider: {
    about: 'Connections to providers.',
    commands: {
      add: () => import('./resources/provider.ts').then((module) => module.add),
      list: () => import('./resources/provider.ts').then((module) => module.listConnections),
      rm: () => import('./resources/provider.ts').then((module) => module.rm),
      test: () => import('./resources/provider.ts').then((module) => module.test),
    },
  },
  budget: {
    about: 'Budgets: limits of spending.',
    commands: {
      list: () => import('./resources/budget.ts').then((module) => module.listBudgets),
      create: () => import('./resources/budget.ts').then((module) => module.create),
      increase: () => import('./resources/budget.ts').then((module) => module.increase),
      delete: () => import('./resources/budget.ts').then((module) => module.remove),
    },
  },
  usage: () => import('./reports/usage.ts').then((module) => module.usageCommand),
  savings: {
    about: 'Savings, and the check of their receipts.',
    alone: () => import('./reports/savings.ts').then((module) => module.totals),
    commands: {
      verify: () => import('./reports/savings.ts').then((module) => module.verify),
      statement: () => import('./reports/savings.ts').then((module) => module.statement),
    },
  },
  advisor: {
    about: 'Recommendations: list, apply, confirm, roll back.',
    alone: () => import('./reports/advisor.ts').then((module) => module.list),
    commands: {
      list: () => import('./reports/advisor.ts').then((module) => module.list),
      apply: () => import('./reports/advisor.ts').then((module) => module.apply),
      applied: () => import('./reports/advisor.ts').then((module) => module.applied),
      confirm: () => import('./reports/advisor.ts').then((module) => module.confirm),
      rollback: () => import('./reports/advisor.ts').then((module) => module.rollback),
    },
  },
  digest: () => import('./reports/advisor.ts').then((module) => module.digestCommand),
  eval: () => import('./reports/eval.ts').then((module) => module.evalCommand),
  shadow: {
    about: 'Shadow evaluation: how cheaper models would have answered.',
    alone: () => import('./reports/shadow.ts').then((module) => module.listSamples),
    commands: {
      list: () => import('./reports/shadow.ts').then((module) => module.listSamples),
      export: () => import('./reports/shadow.ts').then((module) => module.exportSamples),
      rm: () => import('./reports/shadow.ts').then((module) => module.removeSamples),
    },
  },
  'free-pool': () => import('./reports/free-pool.ts').then((module) => module.freePoolCommand),
  report: () => import('./reports/report.ts').then((module) => module.reportCommand),
  pricing: {
    about: 'Prices of models.',
    commands: {
      show: () => import('./resources/price.ts').then((module) => module.showPrice),
      sync: () => import('./resources/pricing.ts').then((module) => module.sync),
    },
  },
  /** Short for `pricing show`. */
  price: () => import('./resources/price.ts').then((module) => module.priceCommand),
  status: () => import('./reports/status.ts').then((module) => module.statusCommand),
  logs: () => import('./logs/logs.ts').then((module) => module.logsCommand),
  webhook: {
    about: 'Endpoints that events are sent to.',
    commands: {
      list: () => import('./resources/webhook.ts').then((module) => module.listEndpoints),
      create: () => import('./resources/webhook.ts').then((module) => module.create),
      test: () => import('./resources/webhook.ts').then((module) => module.test),
      delivery: () => import('./resources/webhook-deliveries.ts').then((module) => module.delivery),
      redeliver: () => import('./resources/webhook-deliveries.ts').then((module) => module.redeliver),
    },
  },
  password: {
    about: 'The dashboard password.',
    commands: { hash: () => import('./installation/password.ts').then((module) => module.hash) },
  },
  db: {
    about: 'The database.',
    commands: { migrate: () => import('./installation/db.ts').then((module) => module.migrate) },
  },
  'master-key': {
    about: 'The master key.',
    commands: { rotate: () => import('./installation/master-key.ts').then((module) => module.rotate) },
  },
  audit: {
    about: 'The audit log.',
    commands: { verify: () => import('./reports/audit.ts').then((module) => module.verify) },
  },
  plugins: () => import('./installation/plugins.ts').then((module) => module.listPlugins),
  plugin: {
    about: 'Plugins of your own.',
    commands: {
      new: () => import('./plugin/plugin.ts').then((module) => module.create),
      check: () => import('./plugin/check.ts').then((module) => module.check),
    },
  },
  filter: {
    about: 'WASM filters.',
    commands: { test: () => import('./filter/filter.ts').then((module) => module.test) },
  },
  plan: () => import('./installation/plan.ts').then((module) => module.plan),
  apply: () => import('./installation/plan.ts').then((module) => module.apply),
  export: () => import('./installation/transfer.ts').then((module) => module.exportCommand),
  import: () => import('./installation/transfer.ts').then((module) => module.importCommand),
  hooks: () => import('./installation/hooks.ts').then((module) => module.hooksCommand),
  env: () => import('./installation/env.ts').then((module) => module.envCommand),
  doctor: () => import('./doctor/doctor.ts').then((module) => module.doctor),
  completion: () => import('./completion/completion.ts').then((module) => module.completion),
  simulate: () => import('./simulation/simulate.ts').then((module) => module.simulateCommand),
  bench: () => import('./bench/bench.ts').then((module) => module.benchCommand),
  routes: {
    about: 'Previews of routes.',
    commands: { preview: () => import('./installation/routes.ts').then((module) => module.preview) },
  },
}
