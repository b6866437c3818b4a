// Starting points for a new virtual model.
import type { Draft } from './draft.ts'

/** The part of the path for a model that is not saved yet. No virtual model can have this name. */
export const NEW = '+new'

export interface Recipe {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly draft: Partial<Draft>
}

export const RECIPES: readonly Recipe[] = [
  {
    id: 'fallback',
    title: 'Fallback',
    about: 'The first target answers. If it fails, the next one does.',
    draft: { name: 'main', strategy: 'failover' },
  },
  {
    id: 'cheap',
    title: 'Cheap first',
    about: 'The target with the lowest price for this request answers.',
    draft: { name: 'cheap', strategy: 'cost_optimized' },
  },
  {
    id: 'panel',
    title: 'Panel',
    about: 'All targets answer, and a judge makes one answer out of them.',
    draft: { name: 'panel', strategy: 'fusion' },
  },
]
