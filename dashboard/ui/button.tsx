import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import { href } from '../app/location.ts'
import { copyText } from './copy-text.ts'

interface ButtonProps {
  children: ComponentChildren
  onClick?: () => unknown
  kind?: 'normal' | 'primary' | 'danger' | 'plain'
  type?: 'button' | 'submit'
  disabled?: boolean
  title?: string
  label?: string
  pressed?: boolean
}

/** A button that is busy while its action runs, and shows beside itself why the action failed. */
export function Button({
  children,
  onClick,
  kind = 'normal',
  type = 'button',
  disabled = false,
  title,
  label,
  pressed,
}: ButtonProps) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const click = async (): Promise<void> => {
    if (onClick === undefined) return
    const result = onClick()
    if (!(result instanceof Promise)) return
    setBusy(true)
    setFailure(null)
    try {
      await result
    } catch (error) {
      setFailure(error instanceof ApiError ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <button
        type={type}
        class={`button ${kind}`}
        disabled={disabled || busy}
        aria-busy={busy}
        aria-label={label}
        aria-pressed={pressed}
        title={title}
        onClick={onClick === undefined ? undefined : click}
      >
        {children}
      </button>
      {failure !== null && (
        <span class="failure" role="alert">
          {failure}
        </span>
      )}
    </>
  )
}

export function LinkButton({
  to,
  children,
  kind = 'normal',
}: {
  to: string
  children: ComponentChildren
  kind?: 'normal' | 'primary'
}) {
  return (
    <a class={`button ${kind}`} href={href(to)}>
      {children}
    </a>
  )
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await copyText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <Button kind="plain" onClick={copy}>
      {copied ? 'Copied' : label}
    </Button>
  )
}
