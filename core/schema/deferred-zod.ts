// zod, except that a schema is built when it is first used. The bundle and the tests resolve `zod` to this file for the modules of hookgate.
// They declare some thousand schemas, of which a process uses few. A declared schema is as small as a remembered call; a built one is ten
// times that. Schemas of other copies of zod go together with these.
import * as zod from 'zod'

export * from 'zod'

/** Functions that make a schema. All others run at once, with built schemas as arguments. */
const FACTORIES = new Set(
  `any array bigint boolean custom date datetime discriminatedUnion email enum instanceof int intersection ipv4 ipv6 json lazy literal
  looseObject map never null nullable nullish number object optional partialRecord pipe preprocess record set strictObject string
  stringbool time transform tuple undefined union unknown url uuid void`.split(/\s+/),
)

/** Methods of a schema that make another schema. Every other member builds the schema that it belongs to. */
const METHODS = new Set(
  `and array brand catch catchall check default describe email endsWith exclude extend extract gt gte includes int length loose lt lte
  max meta min multipleOf negative nonempty nonnegative nonoptional nonpositive nullable nullish omit optional or overwrite partial
  passthrough pick pipe positive prefault readonly refine regex required safeExtend startsWith strict strip superRefine toLowerCase
  toUpperCase transform trim`.split(/\s+/),
)

type Callable = (...args: unknown[]) => unknown

/** A call that makes a schema: of a function of zod, or of a method of the schema before it. */
interface Recipe {
  readonly from: Callable | Recipe
  readonly name: string
  readonly args: readonly unknown[]
  schema: Schema | undefined
  /** For zod itself: see `internals`. */
  internals: object | undefined
}

type Schema = Record<string | symbol, unknown> & { readonly _zod: object }

const RECIPE = Symbol('recipe')
const NONE: readonly unknown[] = []

const handler: ProxyHandler<Recipe> = {
  get(recipe, key) {
    if (key === RECIPE) return recipe
    if (key === '_zod') return internals(recipe)
    if (METHODS.has(key as string))
      return (...args: unknown[]) =>
        args.length === 0 && key === 'meta' ? member(recipe, key)() : deferred(recipe, key as string, args)
    return member(recipe, key)
  },
  set: (recipe, key, value) => Reflect.set(built(recipe), key, value),
  has: (recipe, key) => Reflect.has(built(recipe), key),
  getPrototypeOf: (recipe) => Reflect.getPrototypeOf(built(recipe)),
}

function deferred(from: Callable | Recipe, name: string, args: readonly unknown[]): object {
  return new Proxy<Recipe>(
    { from, name, args: args.length === 0 ? NONE : args, schema: undefined, internals: undefined },
    handler,
  )
}

function member(recipe: Recipe, key: string | symbol): Callable {
  const schema = built(recipe)
  return Reflect.get(schema, key, schema) as Callable
}

function built(recipe: Recipe): Schema {
  if (recipe.schema !== undefined) return recipe.schema
  const { from, name } = recipe
  const args = name === 'lazy' ? recipe.args.map(readyLater) : recipe.args.map(ready)
  recipe.schema = (typeof from === 'function' ? from(...args) : member(from, name)(...args)) as Schema
  return recipe.schema
}

/**
 * Another copy of zod can have this schema inside one of its own. JSON Schema then treats it as it treats `z.lazy`, because it knows each
 * schema by its identity.
 */
function internals(recipe: Recipe): object {
  const schema = built(recipe)
  recipe.internals ??= Object.create(schema._zod, {
    parent: { value: undefined },
    processJSONSchema: {
      value(context: JsonContext, _json: unknown, params: ProcessParams) {
        zod.core.processSchema(schema as never, context, params)
        for (const [known, seen] of context.seen) if (recipeOf(known) === recipe) seen.ref = schema as never
      },
    },
  }) as object
  return recipe.internals
}

type JsonContext = Parameters<typeof zod.core.processSchema>[1]
type ProcessParams = Parameters<typeof zod.core.processSchema>[2]

/** Returns the argument with built schemas: itself, or the members of a list or a shape. */
function ready(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null) return argument
  const recipe = recipeOf(argument)
  if (recipe !== undefined) return built(recipe)
  if (Array.isArray(argument)) return argument.some(recipeOf) ? argument.map(ready) : argument
  if (!Object.values(argument).some(recipeOf)) return argument
  return Object.fromEntries(Object.entries(argument).map(([key, value]) => [key, ready(value)]))
}

function readyLater(argument: unknown): unknown {
  return typeof argument === 'function' ? () => ready(argument()) : argument
}

function recipeOf(value: unknown): Recipe | undefined {
  return typeof value === 'object' && value !== null ? (value as { [RECIPE]?: Recipe })[RECIPE] : undefined
}

/** Returns the namespace with the functions that defer, or that take deferred schemas. */
function deferring(namespace: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(namespace).map(([name, value]) => [name, changed(name, value)]))
}

function changed(name: string, value: unknown): unknown {
  if (name === 'iso' || name === 'coerce') return deferring(value as Record<string, unknown>)
  // Classes keep their identity.
  if (typeof value !== 'function' || !/^[a-z]/.test(name)) return value
  const call = value as Callable
  return FACTORIES.has(name)
    ? (...args: unknown[]) => deferred(call, name, args)
    : (...args: unknown[]) => call(...args.map(ready))
}

export const z = deferring(zod.z) as unknown as typeof zod.z
