// Forms. The server judges the values; its 400 is shown at the field that it names.
import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useContext, useId, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'

interface FormState {
  error: ApiError | null
  fields: Set<string>
}

const FormContext = createContext<FormState>({ error: null, fields: new Set() })

interface FormProps {
  onSubmit: () => Promise<unknown>
  submit: string
  onCancel?: () => void
  disabled?: boolean
  children: ComponentChildren
}

export function Form({ onSubmit, submit, onCancel, disabled = false, children }: FormProps) {
  const [error, setError] = useState<ApiError | null>(null)
  const [busy, setBusy] = useState(false)
  const fields = useRef(new Set<string>())
  const form = useRef<HTMLFormElement>(null)
  /** The button that had the focus may be disabled now, and the browser then takes the focus away. */
  const keepFocus = (): void => {
    const look = (): void => {
      if (document.activeElement === document.body) form.current?.focus()
    }
    requestAnimationFrame(() => setTimeout(look))
  }
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setError(null)
    try {
      await onSubmit()
    } catch (thrown) {
      setError(ApiError.unreachable(thrown))
    } finally {
      setBusy(false)
      keepFocus()
    }
  }
  const placed = error?.param != null && [...fields.current].some((name) => names(error, name))
  return (
    <form ref={form} class="form" tabIndex={-1} noValidate onSubmit={send}>
      <FormContext.Provider value={{ error, fields: fields.current }}>{children}</FormContext.Provider>
      {error !== null && !placed && (
        <p class="failure" role="alert">
          {error.message}
          {error.retryAfter !== null && ` Try again in ${error.retryAfter} s.`}
        </p>
      )}
      <div class="form-actions">
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="button primary" disabled={disabled || busy} aria-busy={busy}>
          {submit}
        </button>
      </div>
    </form>
  )
}

/** `targets.0.model` belongs to the field `targets`; the field `*` takes every refusal. */
function names({ param }: ApiError, field: string): boolean {
  if (field === '*') return param !== null
  return param === field || param?.startsWith(`${field}.`) === true || param?.startsWith(`${field}[`) === true
}

interface FieldProps {
  /** The server's name of the field, for its errors. */
  name: string
  /** Further names whose refusals stand at this field. */
  covers?: readonly string[]
  label: string
  hint?: ComponentChildren
  children: (attributes: {
    id: string
    'aria-describedby': string
    'aria-invalid': boolean
    disabled?: boolean
  }) => ComponentChildren
}

export function Field({ name, covers = [], label, hint, children }: FieldProps) {
  const id = useId()
  const { error, fields } = useContext(FormContext)
  for (const one of [name, ...covers]) fields.add(one)
  const wrong = error !== null && [name, ...covers].some((one) => names(error, one))
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-hint`, 'aria-invalid': wrong })}
      <div id={`${id}-hint`}>
        {wrong && (
          <p class="failure" role="alert">
            {error.message}
          </p>
        )}
        {hint !== undefined && <p class="hint">{hint}</p>}
      </div>
    </div>
  )
}

interface TextFieldProps {
  name: string
  covers?: readonly string[]
  label: string
  hint?: ComponentChildren
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'email' | 'number' | 'password' | 'url' | 'date' | 'datetime-local'
  placeholder?: string
  autocomplete?: string
  rows?: number
  disabled?: boolean
  /** Names of a `<datalist>`. */
  options?: readonly string[]
}

export function TextField({ name, covers, label, hint, value, onInput, rows, options, type = 'text', ...rest }: TextFieldProps) {
  const list = useId()
  return (
    <Field name={name} covers={covers} label={label} hint={hint}>
      {(attributes) =>
        rows === undefined ? (
          <>
            <input
              {...attributes}
              {...rest}
              {...({ type } as object)}
              list={options && list}
              spellcheck={false}
              value={value}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
            {options && (
              <datalist id={list}>
                {options.map((option) => (
                  <option key={option} value={option} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea
            {...attributes}
            disabled={rest.disabled}
            rows={rows}
            spellcheck={false}
            value={value}
            placeholder={rest.placeholder}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  )
}

interface SelectFieldProps {
  name: string
  label: string
  hint?: ComponentChildren
  value: string
  options: readonly (readonly [value: string, title: string])[]
  onInput: (value: string) => void
  disabled?: boolean
}

export function SelectField({ name, label, hint, value, options, onInput, disabled }: SelectFieldProps) {
  return (
    <Field name={name} label={label} hint={hint}>
      {(attributes) => (
        <select {...attributes} disabled={disabled} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          {options.map(([option, title]) => (
            <option key={option} value={option}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function CheckField({
  name,
  label,
  hint,
  value,
  onInput,
  disabled,
}: {
  name: string
  label: string
  hint?: ComponentChildren
  value: boolean
  onInput: (value: boolean) => void
  disabled?: boolean
}) {
  return (
    <Field name={name} label={label} hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          type="checkbox"
          disabled={disabled}
          checked={value}
          onChange={(event) => onInput(event.currentTarget.checked)}
        />
      )}
    </Field>
  )
}
