// Sends a message for each request to Kafka, in batches and outside the request path. A full queue drops messages and counts them.
import { BatchWriter, definePlugin } from 'hookgate'
import { z } from 'zod'

/** The part of a kafkajs producer that this file uses. */
interface Producer {
  send(batch: { topic: string; messages: { key: string; value: string }[] }): Promise<unknown>
}

export const kafkaSink = definePlugin({
  name: 'kafka-sink',
  config: z.object({
    producer: z.custom<Producer>((value) => typeof (value as Producer | undefined)?.send === 'function'),
    topic: z.string(),
  }),
  setup({ hook, clock, log, metrics }, { producer, topic }) {
    const dropped = metrics.counter('kafka_sink_dropped_total', 'Messages dropped because the queue was full.')
    const writer = new BatchWriter<{ key: string; value: string }>({
      name: 'kafka sink',
      clock,
      log,
      maxRows: 500,
      write: async (messages) => void (await producer.send({ topic, messages })),
    })
    hook('settled', (ctx, { status, usage }) => {
      const value = JSON.stringify({ id: ctx.id, model: ctx.requestedModel, status, tokens: usage.total })
      if (!writer.push({ key: ctx.id, value }, value.length)) dropped.inc()
    })
    return () => writer.close()
  },
})
