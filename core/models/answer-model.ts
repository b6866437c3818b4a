// Dialects whose answers name the model that the caller asked for, instead of the one that served. A runtime setting decides.
import type { AnswerModel, AnswerModelMode } from '../services.ts'
import type { Dialect } from '../types/canonical.ts'

export interface Naming extends AnswerModel {
  /** True: answers to callers of this dialect name the model that was asked for. */
  requestedIn(dialect: Dialect): boolean
}

export function naming(): Naming {
  const layers: { mode: AnswerModelMode }[] = []
  return {
    requestedIn(dialect) {
      const mode = layers.at(-1)?.mode ?? 'auto'
      // Clients of the messages dialect drop signed thinking of a model with another name.
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
