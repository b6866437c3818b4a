// Posts to a chat when a budget passes a threshold or refuses a request.
import { definePlugin } from 'hookgate'
import { z } from 'zod'

export const budgetChat = definePlugin({
  name: 'budget-chat',
  requires: ['budgets'],
  config: z.object({ url: z.url() }),
  setup({ events, internalHttp, log }, { url }) {
    const post = (text: string) =>
      // Listeners are synchronous. A promise that nothing awaits must handle its own failure.
      void internalHttp(url, { method: 'POST', body: { text } }).catch((error) =>
        log.warn('budget_chat.failed', { error: String(error) }),
      )
    events.on('budget.threshold_crossed', ({ entity_label, scope, threshold_percent, limit_usd }) =>
      post(`The budget of ${entity_label ?? scope} is at ${threshold_percent} % of ${limit_usd} USD.`),
    )
    events.on('budget.crossed', ({ entity_label, scope, limit_usd }) =>
      post(`The budget of ${entity_label ?? scope} (${limit_usd} USD) is used up: requests are refused.`),
    )
  },
})
