// The setting `answer_model`: whether `model` in an answer is the requested string or the model that served. The header `x-gateway-model`
// always has the latter. Without this plugin the setting is `auto`.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'

export const answerModel = definePlugin({
  name: 'answer-model',
  settings: {
    /** `auto`: the requested one for callers of messages, the serving one for all others. */
    answer_model: z.enum(['auto', 'requested', 'served']).default('auto'),
  },
  variables: {
    ANSWER_MODEL: {
      setting: 'answer_model',
      about:
        'Name of the model in answers: the requested or the served one; auto: requested in messages, served in other dialects.',
    },
  },
  setup(gateway) {
    const { settings } = gateway
    const layer = gateway.use('answerModel').layer()
    const cachePolicy = gateway.optional('cachePolicy')
    layer.set(settings.get('answer_model'))
    settings.watch('answer_model', (mode) => layer.set(mode))
    // A cached answer keeps the name that it was sent with.
    const version = () => (settings.get('answer_model') === 'auto' ? null : settings.get('answer_model'))
    gateway.hook('ready', () => cachePolicy()?.version('answer_model', version))
    return () => layer.end()
  },
})

export default answerModel
