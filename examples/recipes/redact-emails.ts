// Removes e-mail addresses from answers, also from streams that cut them into pieces.
import { definePlugin, holdBack } from 'hookgate'

export const redactEmails = definePlugin({
  name: 'redact-emails',
  setup(gateway) {
    const emails = holdBack({ pattern: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g, window: 400, replace: '[e-mail]' })
    gateway.hook('stream', () => emails.stream(), { operation: 'chat' })
    gateway.hook('response', (_ctx, response) => emails.response(response), { operation: 'chat' })
  },
})
