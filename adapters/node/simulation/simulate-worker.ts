// The thread of one simulation.
import { parentPort, workerData } from 'node:worker_threads'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { silentLog } from '../../../core/log.ts'
import type { SimulationOutcome } from '../../../core/types/ports/simulation.ts'
import { jsonText, runScript } from '../../simulation/run-script.ts'
import { parseScript, type Script } from '../../simulation/script.ts'
import { loadConfig } from '../loading/load-config.ts'
import type { SimulationJob, SimulationMessage } from './simulate-thread.ts'

const tell = (message: SimulationMessage): void => parentPort?.postMessage(message)
tell(await outcomeOf(workerData as SimulationJob))

async function outcomeOf({ script: text, maxRequests, configPath, virtualModel }: SimulationJob): Promise<SimulationOutcome> {
  let script: Script
  try {
    script = parseScript(text, maxRequests)
  } catch (error) {
    return { fault: 'script', message: (error as Error).message }
  }
  try {
    const config = withDraft(configPath === null ? {} : await loadConfig(configPath), virtualModel)
    tell('started')
    return { text: jsonText(await runScript(script, config, { env: process.env, log: silentLog })) }
  } catch (error) {
    const { message } = error as Error
    return { fault: /^Line \d+ of the script/.test(message) ? 'script' : 'configuration', message }
  }
}

function withDraft(config: GatewayConfig, draft: SimulationJob['virtualModel']): GatewayConfig {
  if (draft === null) return config
  const { virtualModels = {} } = config as { virtualModels?: Record<string, { name?: string }> }
  const others = Object.entries(virtualModels).filter(([key, { name = key }]) => name !== draft.name)
  return { ...config, virtualModels: { ...Object.fromEntries(others), [draft.name]: draft.declaration } } as GatewayConfig
}
