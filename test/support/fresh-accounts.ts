// For tests that make accounts fail on purpose, request after request: each request finds them as if nothing had happened.
import { definePlugin } from '../../core/plugins/define.ts'

export const freshAccounts = definePlugin({
  name: 'fresh-accounts',
  requires: ['accounts', 'accountState'],
  setup(gateway) {
    const accounts = gateway.use('accounts')
    const states = gateway.use('accountState')
    gateway.hook('ingress', () => {
      for (const { connection } of accounts.list()) states.clear(connection.id)
    })
  },
})
