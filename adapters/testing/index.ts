// hookgate/testing: what our own tests use, for yours.
export { type Certificate, type CertificateOptions, certificate } from './certificate.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { closedPort, type FaultyAddress, rawServer, silentPort, tarpit } from './network-faults.ts'
export { connectProxy, type ProxyOptions, socksProxy, type TestProxy } from './proxies.ts'
export type { Reply, ReplyRenderer, ReplyToolCall, ReplyUsage } from './replies/reply.ts'
export { broken, type Delivery, fail, frames, hang, raw, reply, reset, type Step, text } from './script.ts'
export { RENDERERS, type RecordedRequest, type ScriptedUpstream, scriptedUpstream, secureUpstream } from './scripted-upstream.ts'
export { createTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts'
