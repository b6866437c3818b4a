// `hookgate hooks`: draws the pipeline of the current configuration, with the sealed order of every hook.
import { readEnv } from '../../../core/config/env.ts'
import { silentLog } from '../../../core/log.ts'
import { loadGateway } from '../../node/loading/load-gateway.ts'
import { action } from '../action.ts'
import { table, terminalColumns } from '../output/table.ts'
import { pipelinePicture } from './pipeline-picture.ts'

const args = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)' },
  table: { type: 'boolean', description: 'A row for each handler, with its order, timeout and what its failure means' },
  json: { type: 'boolean', description: 'JSON for scripts' },
} as const

export const hooksCommand = action({
  name: 'hooks',
  description: 'Print which plugin runs at which hook, in order.',
  args,
  async run(given) {
    // Errors that stop `serve` stop this command too, also in values that it does not use.
    readEnv({ environment: process.env, flags: { CONFIG: given.config } })
    const loaded = await loadGateway({
      flags: { CONFIG: given.config, DATABASE_URL: 'sqlite::memory:' },
      watch: false,
      ports: { log: silentLog },
    })
    const sealed = loaded.gateway.hooks
    if (given.json) console.log(JSON.stringify(sealed, null, 2))
    else if (given.table !== true) {
      const own = loaded.gateway.plugins().filter(({ origin }) => origin.kind !== 'hookgate')
      console.log(pipelinePicture(sealed, new Set(own.map(({ name }) => name)), terminalColumns()))
    } else {
      const rows = sealed.flatMap(({ hook, kind, handlers }) =>
        handlers.length === 0
          ? [[hook, kind, '-', '', '', '']]
          : handlers.map(({ plugin, order, onError, timeoutMs, conditional }, index) => [
              index === 0 ? hook : '',
              index === 0 ? kind : '',
              plugin,
              order,
              onError,
              [timeoutMs === null ? '' : `${timeoutMs} ms`, conditional ? 'conditional' : ''].filter(Boolean).join(', '),
            ]),
      )
      console.log(table(['HOOK', 'KIND', 'PLUGIN', 'ORDER', 'ON ERROR', 'MORE'], rows))
    }
    await loaded.close()
  },
})
