// hookgate: exports the core together with Node's ports, server and configuration loading.
export * from '../../core/index.ts'
export { type PresetOptions, preset } from '../../plugins/preset.ts'
export { createGateway } from './gateway.ts'
export { loadConfig } from './load-config.ts'
export { type LoadedGateway, type LoadOptions, loadGateway } from './load-gateway.ts'
export { loadPlugin } from './load-plugin.ts'
export { type NodeHandlerOptions, type NodeListener, toNodeHandler } from './node-handler.ts'
export { type RunningServer, type ServeOptions, serve } from './serve.ts'
