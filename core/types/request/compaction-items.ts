// Types of the service that reads the gateway's own compaction items.
import type { Frozen, Json, Message } from './canonical.ts'

export interface CompactionItems {
  /** Returns whether the gateway made this item: its content can be sent to every upstream. */
  isOwn(item: Frozen<Json>): boolean
  /**
   * Returns the messages with the content of the gateway's compaction items in their place; null when they have none.
   * @throws GatewayError 400 for an item that was changed, or is of another organization
   */
  open(messages: readonly Frozen<Message>[], orgId: number | null): Promise<Message[] | null>
}

declare module '../plugin/plugin.ts' {
  interface Services {
    compactionItems: CompactionItems
  }
}
