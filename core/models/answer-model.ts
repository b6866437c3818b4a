// Decides in which dialects answers carry the model name that the caller requested instead of the one that served. A runtime setting
// controls it.
import type { AnswerModel, AnswerModelMode } from '../services.ts'
import type { Dialect } from '../types/request/canonical.ts'

export interface Naming extends AnswerModel {
  /** Returns whether answers to callers of this dialect carry the requested name. */
  requestedIn(dialect: Dialect): boolean
}

export function naming(): Naming {
  const layers: { mode: AnswerModelMode }[] = []
  return {
    requestedIn(dialect) {
      const mode = layers.at(-1)?.mode ?? 'auto'
      // Clients of the messages dialect drop signed thinking when the model's name differs.
      return mode === 'auto' ? dialect === 'messages' : mode === 'requested'
    },
    layer() {
      const layer: { mode: AnswerModelMode } = { mode: 'auto' }
      layers.push(layer)
      return {
        set(mode) {
          layer.mode = mode
        },
        end() {
          const at = layers.indexOf(layer)
          if (at !== -1) layers.splice(at, 1)
        },
      }
    },
  }
}
