// Virtual names as model lists show them: what can be called, the first of each name.
import type { Services } from '../../core/types/plugin.ts'
import type { CompiledModel } from './compiled-model.ts'

type Entry = ReturnType<Parameters<Services['modelCatalogue']['virtual']>[0]['list']>[number]

export function listEntries(compiledModels: readonly CompiledModel[]): Entry[] {
  const named = new Map<string, CompiledModel>()
  for (const compiled of compiledModels) if (!named.has(compiled.name)) named.set(compiled.name, compiled)
  return [...named.values()]
    .filter(({ enabled, targets }) => enabled && targets.length > 0)
    .map(({ name, createdAt, modality, targets }) => ({ id: name, createdAt, modality, targets }))
}
