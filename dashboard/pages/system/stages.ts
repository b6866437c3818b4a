// The stages of a request, and the hooks of each in their order.

export interface Stage {
  readonly title: string
  readonly about: string
  readonly hooks: readonly string[]
}

export const STAGES: readonly Stage[] = [
  { title: 'Before routing', about: 'who calls, and may they', hooks: ['ingress', 'authenticate', 'access', 'resolve'] },
  {
    title: 'Before the call',
    about: 'the request and its limits',
    hooks: ['request', 'answer', 'admit', 'reserve', 'candidates'],
  },
  { title: 'Each attempt', about: 'once per try', hooks: ['call', 'attempt', 'prepare', 'encoded'] },
  { title: 'The answer', about: 'whole or streamed', hooks: ['stream', 'stream:batch', 'response'] },
  { title: 'After the answer', about: 'money, log, events', hooks: ['settle', 'settled'] },
  { title: 'Process', about: 'start and end', hooks: ['ready', 'close'] },
]
