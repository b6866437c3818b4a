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
  serve: () => import('./serve.ts').then((module) => module.serveCommand),
  dev: () => import('./dev.ts').then((module) => module.devCommand),
  init: () => import('./init.ts').then((module) => module.init),
  key: {
    about: 'Client keys, for callers of /v1.',
    commands: {
      create: () => import('./key.ts').then((module) => module.create),
      list: () => import('./key.ts').then((module) => module.listKeys),
      revoke: () => import('./key.ts').then((module) => module.revoke),
      rotate: () => import('./key.ts').then((module) => module.rotate),
    },
  },
  token: {
    about: 'Management tokens, for callers of /api.',
    commands: {
      create: () => import('./token.ts').then((module) => module.create),
      list: () => import('./token.ts').then((module) => module.listTokens),
      revoke: () => import('./token.ts').then((module) => module.revoke),
    },
  },
  org: {
    about: 'Organizations of a gateway with tenants.',
    commands: {
      list: () => import('./org.ts').then((module) => module.listOrganizations),
      create: () => import('./org.ts').then((module) => module.create),
      suspend: () => import('./org.ts').then((module) => module.suspend),
      resume: () => import('./org.ts').then((module) => module.resume),
      delete: () => import('./org.ts').then((module) => module.remove),
    },
  },
  user: {
    about: 'Accounts of a gateway with tenants.',
    commands: {
      list: () => import('./user.ts').then((module) => module.listUsers),
      create: () => import('./user.ts').then((module) => module.create),
      disable: () => import('./user.ts').then((module) => module.disable),
      enable: () => import('./user.ts').then((module) => module.enable),
      role: () => import('./user.ts').then((module) => module.role),
    },
  },
  signup: () => import('./user.ts').then((module) => module.signup),
  responses: {
    about: 'Stored responses and conversations.',
    commands: {
      list: () => import('./responses.ts').then((module) => module.listResponses),
      show: () => import('./responses.ts').then((module) => module.showResponse),
      export: () => import('./responses.ts').then((module) => module.exportResponses),
      rm: () => import('./responses.ts').then((module) => module.removeResponses),
    },
  },
  provider: {
    about: 'Connections to providers.',
    commands: {
      add: () => import('./provider.ts').then((module) => module.add),
      list: () => import('./provider.ts').then((module) => module.listConnections),
      rm: () => import('./provider.ts').then((module) => module.rm),
      test: () => import('./provider.ts').then((module) => module.test),
    },
  },
  budget: {
    about: 'Budgets: limits of spending.',
    commands: {
      list: () => import('./budget.ts').then((module) => module.listBudgets),
      create: () => import('./budget.ts').then((module) => module.create),
      increase: () => import('./budget.ts').then((module) => module.increase),
      delete: () => import('./budget.ts').then((module) => module.remove),
    },
  },
  usage: () => import('./usage.ts').then((module) => module.usageCommand),
  savings: {
    about: 'Savings, and the check of their receipts.',
    alone: () => import('./savings.ts').then((module) => module.totals),
    commands: {
      verify: () => import('./savings.ts').then((module) => module.verify),
      statement: () => import('./savings.ts').then((module) => module.statement),
    },
  },
  advisor: {
    about: 'Recommendations: list, apply, confirm, roll back.',
    alone: () => import('./advisor.ts').then((module) => module.list),
    commands: {
      list: () => import('./advisor.ts').then((module) => module.list),
      apply: () => import('./advisor.ts').then((module) => module.apply),
      applied: () => import('./advisor.ts').then((module) => module.applied),
      confirm: () => import('./advisor.ts').then((module) => module.confirm),
      rollback: () => import('./advisor.ts').then((module) => module.rollback),
    },
  },
  digest: () => import('./advisor.ts').then((module) => module.digestCommand),
  eval: () => import('./eval.ts').then((module) => module.evalCommand),
  shadow: {
    about: 'Shadow evaluation: how cheaper models would have answered.',
    alone: () => import('./shadow.ts').then((module) => module.listSamples),
    commands: {
      list: () => import('./shadow.ts').then((module) => module.listSamples),
      export: () => import('./shadow.ts').then((module) => module.exportSamples),
      rm: () => import('./shadow.ts').then((module) => module.removeSamples),
    },
  },
  'free-pool': () => import('./free-pool.ts').then((module) => module.freePoolCommand),
  report: () => import('./report.ts').then((module) => module.reportCommand),
  pricing: {
    about: 'Prices of models.',
    commands: {
      show: () => import('./price.ts').then((module) => module.showPrice),
      sync: () => import('./pricing.ts').then((module) => module.sync),
    },
  },
  /** Short for `pricing show`. */
  price: () => import('./price.ts').then((module) => module.priceCommand),
  status: () => import('./status.ts').then((module) => module.statusCommand),
  logs: () => import('./logs.ts').then((module) => module.logsCommand),
  webhook: {
    about: 'Endpoints that events are sent to.',
    commands: {
      list: () => import('./webhook.ts').then((module) => module.listEndpoints),
      create: () => import('./webhook.ts').then((module) => module.create),
      test: () => import('./webhook.ts').then((module) => module.test),
      delivery: () => import('./webhook-deliveries.ts').then((module) => module.delivery),
      redeliver: () => import('./webhook-deliveries.ts').then((module) => module.redeliver),
    },
  },
  password: {
    about: 'The dashboard password.',
    commands: { hash: () => import('./password.ts').then((module) => module.hash) },
  },
  db: {
    about: 'The database.',
    commands: { migrate: () => import('./db.ts').then((module) => module.migrate) },
  },
  'master-key': {
    about: 'The master key.',
    commands: { rotate: () => import('./master-key.ts').then((module) => module.rotate) },
  },
  audit: {
    about: 'The audit log.',
    commands: { verify: () => import('./audit.ts').then((module) => module.verify) },
  },
  plugins: () => import('./plugins.ts').then((module) => module.listPlugins),
  plugin: {
    about: 'Plugins of your own.',
    commands: {
      new: () => import('./plugin.ts').then((module) => module.create),
      check: () => import('./plugin-check.ts').then((module) => module.check),
    },
  },
  filter: {
    about: 'WASM filters.',
    commands: { test: () => import('./filter.ts').then((module) => module.test) },
  },
  plan: () => import('./plan.ts').then((module) => module.plan),
  apply: () => import('./plan.ts').then((module) => module.apply),
  export: () => import('./transfer.ts').then((module) => module.exportCommand),
  import: () => import('./transfer.ts').then((module) => module.importCommand),
  hooks: () => import('./hooks.ts').then((module) => module.hooksCommand),
  env: () => import('./env.ts').then((module) => module.envCommand),
  doctor: () => import('./doctor.ts').then((module) => module.doctor),
  completion: () => import('./completion.ts').then((module) => module.completion),
  simulate: () => import('./simulate.ts').then((module) => module.simulateCommand),
  bench: () => import('./bench.ts').then((module) => module.benchCommand),
  routes: {
    about: 'Previews of routes.',
    commands: { preview: () => import('./routes.ts').then((module) => module.preview) },
  },
}
