// Types of environment variables: a row of the table, and a plugin's declaration of its own.

export type VariableType = 'string' | 'int' | 'number' | 'bool' | 'enum' | 'list' | 'json' | 'url' | 'secret'

export type VariableValue = string | number | boolean | readonly string[] | object | null

/** Traits of a variable besides its type and range. */
export interface VariableTraits {
  /** One sentence about what the variable sets. */
  readonly about: string
  /** Allowed schemes of a URL variable. */
  readonly schemes?: readonly string[]
  /** A bad value is logged and ignored; it does not stop the boot. */
  readonly lenient?: true
  /** The meaning of an empty value; without it, empty is the same as unset. */
  readonly emptyMeans?: string
  /** Read when the gateway starts, not at a reload. */
  readonly atStart?: true
  /** An unprefixed name read when the prefixed one is unset. */
  readonly fallback?: string
}

/** One row of the table that `hookgate env` prints. */
export interface Variable extends VariableTraits {
  /** Without the GATEWAY_ prefix. */
  readonly name: string
  /** The plugin that declares it; absent: the core. */
  readonly plugin?: string
  readonly type: VariableType
  /** null = unset: disabled or not configured. */
  readonly default: VariableValue
  readonly values?: readonly string[]
  readonly min?: number
  readonly max?: number
  /** Returns the problem with a value of the right type; null: the value is accepted. */
  readonly check?: (value: VariableValue) => string | null
}

/** Traits of a plugin's variable; type, range, choices and default come from the schema of the option or setting. */
export interface PluginVariableTraits extends VariableTraits {
  /**
   * Needed only when the schema does not show it: `secret` masks the value everywhere, `url` for a plain string, `json` for
   * `z.unknown()`.
   */
  readonly type?: VariableType
}

/** A variable of a plugin. It sets one option of the plugin's `config`, or one of its `settings`. */
export type PluginVariable<Option extends string = string, Setting extends string = string> = PluginVariableTraits &
  (
    | { /** The field of `config`. */ readonly option: Option; readonly setting?: never }
    | { /** The key in `settings`. */ readonly setting: Setting; readonly option?: never }
  )
