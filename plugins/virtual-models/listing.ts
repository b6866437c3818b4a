// Virtual names as model lists show them: what can be called, the first of each name.
import type { Services } from '../../core/types/plugin.ts'
import type { Recipe } from './compiled-model.ts'

type Entry = ReturnType<Parameters<Services['modelCatalogue']['virtual']>[0]['list']>[number]

export function listEntries(recipes: readonly Recipe[]): Entry[] {
  const named = new Map<string, Recipe>()
  for (const recipe of recipes) if (!named.has(recipe.name)) named.set(recipe.name, recipe)
  return [...named.values()]
    .filter(({ enabled, targets }) => enabled && targets.length > 0)
    .map(({ name, createdAt, modality, targets }) => ({ id: name, createdAt, modality, targets }))
}
