// hookgate/testing: the test tools of this repository, for plugins and hosts.
export { type Certificate, type CertificateOptions, certificate } from './certificate.ts'
export type { ContractCase } from './contracts/contract.ts'
export { databaseContract } from './contracts/database-contract.ts'
export { CONTRACT_REPLIES, contractContext, dialectContract } from './contracts/dialect-contract.ts'
export { providerContract } from './contracts/provider-contract.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { closedPort, type FaultyAddress, rawServer, silentPort, tarpit } from './network-faults.ts'
export { operationContract } from './operation-contract/operation-contract.ts'
export type { ContractAnswer, OperationContract } from './operation-contract/options.ts'
export type { PluginConformanceOptions } from './plugin-conformance/options.ts'
export { pluginConformance } from './plugin-conformance/plugin-conformance.ts'
export { connectProxy, type ProxyOptions, socksProxy, type TestProxy } from './proxies.ts'
export type { Reply, ReplyRenderer, ReplyToolCall, ReplyUsage } from './replies/reply.ts'
export {
  broken,
  choose,
  type Delivery,
  fail,
  frames,
  hang,
  type RecordedRequest,
  raw,
  reply,
  reset,
  type Step,
  text,
} from './script.ts'
export { RENDERERS, type ScriptedUpstream, scriptedUpstream, secureUpstream } from './scripted-upstream.ts'
export { createTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts'
export { testLog } from './test-log.ts'
