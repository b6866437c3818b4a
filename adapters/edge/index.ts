// hookgate/edge: the core with the ports of a runtime that has web standards only, such as Workers.
export * from '../../core/index.ts'
export { type FetchTransportOptions, fetchTransport } from '../transport/fetch.ts'
export { declaredConnections } from './declared-connections.ts'
export { createGateway, type EdgeOptions, edgePreset } from './gateway.ts'
